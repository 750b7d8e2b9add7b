"""``@given(schedules(…))``: what is drawn, how it shrinks, and what a failing test prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from support.programs import write

from harness.errors import UserError
from harness.schedule import Schedule, from_token
from harness.strategies import schedules, unhurried

pytest_plugins = ["pytester"]
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
GIVEN = """
    from hypothesis import given, settings
    from harness.strategies import must_pass, schedules, unhurried
    @settings(unhurried, max_examples=60)
    @given(schedules({}))
    def test_it(schedule):
        with open("drawn", "a") as drawn:
            print(schedule.threads, schedule.first, len(schedule.directives), file=drawn)
        must_pass(schedule)
"""


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    for name in ("lost_update", "save_restore_global"):
        for folder in ("fail", "success"):
            text = (EXAMPLES / folder / f"{name}.py").read_text()
            (pytester.path / f"{name}{'' if folder == 'fail' else '_repaired'}.py").write_text(text)
    return pytester


def run(session: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    # Where it sees a CI service, Hypothesis has another profile, with no database.
    profile = "--hypothesis-profile=default"
    return session.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", profile, *arguments)


def drawn(session: pytest.Pytester) -> list[str]:
    path = session.path / "drawn"
    lines = path.read_text().splitlines()
    path.unlink()
    return lines


def test_a_failure_is_shrunk_printed_kept_and_replayed(session: pytest.Pytester) -> None:
    session.makepyfile(GIVEN.format("'lost_update.py'"))
    result = run(session)
    result.assert_outcomes(failed=1)
    found = re.search(r"harness replay (race1\S+)", result.stdout.str())
    assert found is not None
    schedule = from_token(found[1])
    assert (schedule.threads, schedule.first) == (2, 0)
    assert 1 <= len(schedule.directives) <= 2
    assert all(directive.does in ("T0", "T1") for directive in schedule.directives)
    smallest = f"2 0 {len(schedule.directives)}"
    first = drawn(session)
    assert len({line.split()[0] for line in first}) > 2, "thread counts are drawn"

    again = run(session)
    again.assert_outcomes(failed=1)
    assert found[1] in again.stdout.str()
    assert drawn(session)[0] == smallest, "the database comes first"

    replayed = run(session, f"--race-replay={found[1]}")
    replayed.assert_outcomes(failed=1)
    assert set(drawn(session)) == {smallest}


def test_a_repaired_program_passes(session: pytest.Pytester) -> None:
    session.makepyfile(GIVEN.format("'save_restore_global_repaired.py', threads=(2, 3)"))
    run(session).assert_outcomes(passed=1)
    assert {line.split()[0] for line in drawn(session)} == {"2", "3"}


def test_a_scenario_of_the_test_file_itself(session: pytest.Pytester) -> None:
    source = (EXAMPLES / "fail" / "lost_update.py").read_text().partition('"""\n\n')[2]
    given = "\n".join(line[4:] for line in GIVEN.format("lost_update").splitlines())
    session.makepyfile(source + given)
    result = run(session)
    result.assert_outcomes(failed=1)
    assert re.search(r"harness replay race1,test_a_scenario\S+\.py:lost_update,threads=2", result.stdout.str())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"threads": 99}, "makes sense with 2 to 8 threads"),
        ({"axes": {"x": 1}}, "has no x=1"),
    ],
)
def test_mistakes(options: dict, says: str) -> None:  # type: ignore[type-arg]
    @given(schedules(str(EXAMPLES / "fail" / "lost_update.py"), **options))
    def draw(schedule: Schedule) -> None: ...

    with pytest.raises(UserError, match=says):
        draw()


def test_an_unknown_mode() -> None:
    with pytest.raises(UserError, match="gil or free"):
        schedules("flag.warm", mode="fast")


def test_every_coordinate_is_drawn(tmp_path: Path) -> None:
    reference = write(
        tmp_path,
        """
        def body(log):
            marker("between")
        scenario = Scenario([body, body], threads=(2, 4), axes={"kind": ["a", "b"], "held": [1, 2]})
        """,
    )
    seen: list[Schedule] = []

    @settings(unhurried, max_examples=150, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(schedules(reference, axes={"held": 2}))
    def draw(schedule: Schedule) -> None:
        seen.append(schedule)

    draw()
    assert {schedule.threads for schedule in seen} == {2, 3, 4}
    assert {schedule.first for schedule in seen} == {0, 1, 2, 3}
    assert {schedule.axes.get("kind", "a") for schedule in seen} == {"a", "b"}
    assert {schedule.axes["held"] for schedule in seen} == {2}
    does = {directive.does for schedule in seen for directive in schedule.directives}
    assert {"T0", "T1", "T2", "T3", "gc0", "gc1", "gc2"} <= does
    assert {len(schedule.directives) for schedule in seen} == {0, 1, 2, 3}
