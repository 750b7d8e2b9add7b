"""The pytest plugin, in sessions of its own: what it prints, how it ends, what it leaves behind."""

from __future__ import annotations

import os
import re
import select
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]
FINDS = """
def test_addition(race):
    hunt = race.find("lost_update.py")
    assert not hunt.found, hunt.token
"""


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a scenario that fails, and a pytest that has this plugin, xdist and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    for name in ("lost_update.py", "check_then_act.py"):
        (pytester.path / name).write_bytes((ROOT / "examples/fail" / name).read_bytes())
    (pytester.path / "repaired.py").write_bytes((ROOT / "examples/success/lost_update.py").read_bytes())
    return pytester


def run(session: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    plugins = ("-p", "harness.plugin.hooks", "-p", "xdist.plugin", "-p", "no:cacheprovider")
    return session.runpytest_subprocess(*plugins, *arguments)


def token_in(result: pytest.RunResult) -> str:
    line = re.search(r"^harness replay (race1\S+)$", result.stdout.str(), re.MULTILINE)
    assert line is not None, result.stdout.str()
    return line[1]


def assert_refused(result: pytest.RunResult, line: str) -> None:
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert line in result.stderr.str() + result.stdout.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_a_failing_test_prints_the_line_to_replay(session: pytest.Pytester) -> None:
    session.makepyfile(FINDS)
    result = run(session)
    result.assert_outcomes(failed=1)
    assert "lost_update" in token_in(result)


def test_a_passing_test_prints_none(session: pytest.Pytester) -> None:
    session.makepyfile("def test_it(race): assert race.find('lost_update.py').found")
    result = run(session, "-rA")
    result.assert_outcomes(passed=1)
    assert "harness replay" not in result.stdout.str()


def test_replay_runs_one_schedule_in_place_of_a_search(session: pytest.Pytester) -> None:
    session.makepyfile(FINDS)
    token = token_in(run(session))
    session.makepyfile(
        """
        def test_one(race):
            hunt = race.find("lost_update.py")
            assert (hunt.found, hunt.schedules, hunt.rests_on.certain) == (True, 1, False)

        def test_other(race):
            race.find("repaired.py")
        """
    )
    run(session, "--race-replay", token).assert_outcomes(passed=1, skipped=1)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_token_no_test_asks_for_is_no_success(session: pytest.Pytester, workers: str) -> None:
    session.makepyfile(FINDS)
    token = token_in(run(session))
    session.makepyfile("def test_other(race): race.find('repaired.py')")
    result = run(session, "--race-replay", token, "-n", workers)
    assert_refused(result, "--race-replay: no test searches lost_update.py")


def test_replay_works_under_xdist(session: pytest.Pytester) -> None:
    session.makepyfile(FINDS)
    token = token_in(run(session))
    result = run(session, "--race-replay", token, "-n", "2")
    result.assert_outcomes(failed=1)


def test_replay_and_explanation_by_token(session: pytest.Pytester) -> None:
    session.makepyfile(
        """
        def test_it(race):
            hunt = race.find("lost_update.py")
            again = race.replay(hunt.token, times=3)
            assert (again.failed, again.same, again.signature) == (3, 3, hunt.signature)
            assert "lost_update.Counter:value" in race.explain(hunt.token).text
        """
    )
    run(session).assert_outcomes(passed=1)


def test_a_verdict_has_its_control_arm(session: pytest.Pytester) -> None:
    session.makepyfile(
        """
        def test_it(race):
            assert race.check("check_then_act.py", "none")["none"].verdict == "fails"
            assert race.check("repaired.py", "none")["none"].verdict == "untested"
        """
    )
    run(session).assert_outcomes(passed=1)


def test_budget_is_forced_and_a_limit_is_no_negative(session: pytest.Pytester) -> None:
    session.makepyfile(
        """
        import pytest

        @pytest.mark.race(budget=2000)
        def test_it(race):
            hunt = race.find("repaired.py")
            assert not hunt.found
            assert hunt.rests_on.certain, hunt.rests_on.says
        """
    )
    run(session).assert_outcomes(passed=1)
    result = run(session, "--race-budget", "5")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*limit of 5 schedules: inconclusive*"])


def test_fix_is_forced_on_every_run(session: pytest.Pytester) -> None:
    session.makepyfile(
        own_fix="""
        from contextlib import contextmanager
        import sys

        @contextmanager
        def atomic():
            module = sys.modules["lost_update"]
            def add(counter):
                counter.value += 1
            before, module.add.__code__ = module.add.__code__, add.__code__
            yield
            module.add.__code__ = before
        """
    )
    session.makepyfile(FINDS)
    run(session, "--race-fix", "own_fix:atomic").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--race-fix", "nope"], "unknown fix 'nope'"),
        (["--race-replay", "nonsense"], "not a token"),
        (["--race-replay", "race9,x,threads=2,abcdef"], "token of format race9"),
        (["--race-budget", "0"], "not a whole number of at least 1"),
    ],
)
def test_an_option_that_cannot_be_honoured(session: pytest.Pytester, arguments: list[str], line: str) -> None:
    session.makepyfile(FINDS)
    assert_refused(run(session, *arguments), line)


def test_budget_and_replay_exclude_each_other(session: pytest.Pytester) -> None:
    session.makepyfile(FINDS)
    token = token_in(run(session))
    assert_refused(run(session, "--race-replay", token, "--race-budget", "9"), "nothing is searched")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("race.find('nosuch')", "race: unknown scenario 'nosuch'"),
        ("race.find('lost_update.py', fix='nope')", "race: unknown fix 'nope'"),
        ("race.find('lost_update.py', mode='fast')", "race: mode 'fast': gil or free"),
        ("race.find('lost_update.py', axes={'size': 3})", "race: lost_update.py: the schedule says size=3"),
        ("race.replay('race1,cut')", "race: the token's checksum does not match"),
    ],
)
def test_a_mistake_in_a_test_is_one_line(session: pytest.Pytester, call: str, line: str) -> None:
    session.makepyfile(f"def test_it(race): {call}")
    result = run(session)
    result.assert_outcomes(failed=1)
    assert line in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_a_marker_with_an_unknown_name(session: pytest.Pytester) -> None:
    session.makepyfile("import pytest\n@pytest.mark.race(bugdet=3)\ndef test_it(race): pass")
    result = run(session)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["race: the marker takes budget, fix, seed, each by name"])


NOTES_ITS_PARENT = """
from pathlib import Path

def test_it(race):
    race.find("lost_update.py")
    (launcher,) = race.session._launchers.values()
    Path("parent").write_text(str(launcher._process.pid))
    {last}
"""


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        ([], "pass"),
        (["-n", "1"], "pass"),
        (["-n", "1", "--max-worker-restart=0"], "import os; os.kill(os.getpid(), 9)"),
    ],
    ids=["session ends", "worker ends", "worker is killed"],
)
def test_no_process_is_left(session: pytest.Pytester, arguments: list[str], last: str) -> None:
    session.makepyfile(NOTES_ITS_PARENT.format(last=last))
    run(session, *arguments)
    try:
        parent = os.pidfd_open(int((session.path / "parent").read_text()))
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([parent], [], [], 30)  # readable as soon as the process has ended
    finally:
        os.close(parent)
    assert ended


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_the_regression_suite_is_red_when_its_expectations_are_false(session: pytest.Pytester) -> None:
    """A fix is forced that takes the failure away: the tests that expect it fail."""
    chosen = [
        "-k",
        "test_found_within and (flag.warm or flag.first)",
        "--rootdir",
        str(ROOT),
        "-c",
        str(ROOT / "pyproject.toml"),
    ]
    result = run(
        session,
        str(ROOT / "repro"),
        *chosen,
        "-p",
        "pytest_timeout",
        "--race-fix",
        "function_patch",
        "--race-budget",
        "20",
    )
    result.assert_outcomes(failed=2, deselected=result.parseoutcomes()["deselected"])
