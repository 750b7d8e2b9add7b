"""Several cases in a table, and a newer release as the fix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.environments import environments, racy

from harness.cli import check_
from harness.cli.main import main
from harness.control.actions import HandOver
from harness.errors import UserError
from harness.fixes import find_fix, fix_of_a_run
from harness.run.launch import Launcher
from harness.schedule import Schedule, to_token
from harness.schedule.schedule import Directive
from harness.verdict import case, control_arm, judge
from harness.verdict.case import _on_cuda, judged, newer
from harness.verdict.judge import Verdict

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RACY, SAFE = str(EXAMPLES / "fail" / "lost_update.py"), str(EXAMPLES / "success" / "lost_update.py")


@pytest.mark.parametrize(("there", "says"), [(SAFE, "holds"), (RACY, "fails")])
def test_an_upgrade_is_judged_by_the_runs_made_there(there: str, says: str) -> None:
    base = Schedule(RACY, 2)
    with Launcher(RACY) as here, Launcher(there) as other:
        control = control_arm(here, base, budget=100)
        verdict = judge(here, base, find_fix("upgrade"), control, budget=600, under=other)
    assert (verdict.fix, verdict.verdict) == ("upgrade", says)
    assert (verdict.failing is not None) == (says == "fails")


def test_without_torch_there_is_nothing_to_upgrade() -> None:
    with Launcher(RACY) as here, pytest.raises(UserError, match="without torch"), newer(here):
        pass


def test_an_upgrade_is_no_fix_of_a_run() -> None:
    with pytest.raises(UserError, match="harness check"):
        fix_of_a_run("upgrade")


@pytest.fixture(autouse=True)
def nothing_was_judged_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_ENVS", str(tmp_path / "cache" / "envs"))


def test_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "table.html"
    arguments = ["check", RACY, SAFE, "--fix", "none", "--fix", "per_process", "--budget", "60"]
    assert main([*arguments, "--json", "--require", "holds"]) == 1
    cells = json.loads(capsys.readouterr().out)["cells"]
    found = {(cell["heads"]["fix"], cell["column"]): cell for cell in cells}
    assert found["none", RACY]["text"] == "fails"
    assert "race1," in found["none", RACY]["detail"]
    assert found["none", SAFE]["text"] == "untested"
    assert found["per_process", SAFE]["unexpected"] == "required: holds"
    assert main([*arguments, "--format", "html", "--output", str(page)]) == 0
    assert page.read_text().count("<details>") == 4


def test_a_table_that_was_ended_goes_on(capsys, monkeypatch) -> None:
    arguments = ["check", RACY, SAFE, "--fix", "none", "--fix", "per_process", "--budget", "40", "--json"]
    begun: list[str] = []

    def until_the_second(launcher, base, *rest, **options):
        begun.append(base.scenario)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return judged(launcher, base, *rest, **options)

    monkeypatch.setattr(check_, "judged", until_the_second)
    assert main(arguments) == 130
    assert main(arguments) == 0
    assert begun == [RACY, SAFE, SAFE]
    first = capsys.readouterr().out
    assert main(arguments) == 0
    assert (capsys.readouterr().out, begun) == (first, [RACY, SAFE, SAFE])
    assert main([*arguments, "--fresh"]) == 0
    assert begun[3:] == [RACY, SAFE]
    assert main([*arguments, "--budget", "41"]) == 0
    assert begun[5:] == [RACY, SAFE]


def test_a_table_over_releases(capsys, tmp_path: Path) -> None:
    """A lost update up to 9.5; a column for each release, and one thread count for all."""
    environments(tmp_path / "cache" / "envs", ("9.3.0", "9.5.0"))
    program = racy(tmp_path)
    arguments = ["check", program, "--torch", "9.3.0,9.5.0", "--fix", "none", "--threads", "2", "--budget", "60"]
    assert main([*arguments, "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert table["columns"] == ["9.3.0", "9.5.0"]
    assert [cell["text"] for cell in table["cells"]] == ["fails", "untested"]
    assert main([*arguments[:3], "9.3.0,9.4.1", *arguments[4:]]) == 2
    assert "9.4.1; make one: harness env add 9.4.1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ([SAFE, "--threads", "2"], "for one scenario"),
        ([SAFE, "--json", "--format", "html"], "leave out --format"),
        (["--format", "html"], "for the table of several"),
        (["--fresh"], "of one nothing is kept"),
        ([SAFE, "race1,s,threads=2,000000"], "checksum does not match"),
        (["--torch", ","], "with commas between them"),
        ([SAFE, "--output", "/nowhere/x.html", "--fix", "none", "--budget", "3"], "/nowhere/x.html"),
    ],
)
def test_mistakes(more: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", RACY, *more]) == 2
    assert says in capsys.readouterr().err


def test_a_scenario_that_cannot_be_loaded_is_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    two = tmp_path / "two.py"
    two.write_text("from harness import Scenario\none = Scenario([print, print])\nother = Scenario([print, print])\n")
    monkeypatch.setattr(check_, "judged", lambda *_, **__: pytest.fail("something was judged"))
    assert main(["check", RACY, str(two), "--fix", "none"]) == 2
    assert "it defines 2 scenarios; say which with :NAME (one, other)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fix", "verdict", "axes", "remarked"),
    [
        ("trace_lock", "holds", {}, True),
        ("trace_lock", "holds", {"recompute": "here"}, True),
        ("trace_lock", "holds", {"recompute": "engine"}, False),
        ("trace_lock", "fails", {}, False),
        ("thread_local_fx", "holds", {}, False),
    ],
)
def test_a_lock_is_untested_for_cuda_without_the_engines_thread(fix: str, verdict: str, axes: dict, remarked: bool) -> None:
    given = _on_cuda(Verdict(fix, verdict, 1, 1, "", "all pass"), find_fix(fix), Schedule("s", 2, axes=axes))
    assert ("for CUDA untested" in given.rests_on) == remarked
    assert given.verdict == verdict


def test_a_column_that_was_ended_goes_on_with_the_next_fix(capsys, monkeypatch) -> None:
    arguments = ["check", RACY, SAFE, "--fix", "none", "--fix", "per_process", "--budget", "40", "--json"]
    asked: list[str] = []

    def until_per_process(runner, base, fix, *rest, **options):
        asked.append(fix.name)
        if asked == ["none", "per_process"]:
            raise KeyboardInterrupt
        return judge(runner, base, fix, *rest, **options)

    monkeypatch.setattr(case, "judge", until_per_process)
    assert main(arguments) == 130
    assert main(arguments) == 0
    assert asked == ["none", "per_process", "per_process", "none", "per_process"]


def test_tokens_in_a_table_are_tried_first(capsys) -> None:
    late = Directive("T1", "end", 1, HandOver("T0"))  # without effect: a reduction would leave it out
    early = Directive("T0", "read:lost_update.Counter:value", 1, HandOver("T1"))
    failing = to_token(Schedule(RACY, 2, directives=(early, late)))
    passing = to_token(Schedule(SAFE, 2))
    assert main(["check", failing, passing, "--fix", "none", "--budget", "1", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert [cell["text"] for cell in table["cells"]] == ["fails", "untested"]
    assert f"Token: {failing}" in table["cells"][0]["detail"]
    notes = "\n".join(table["notes"])
    assert f"{RACY}: 2 failing of 2 schedules" in notes
    assert "the given schedule passes here" in notes
    assert main(["check", RACY, failing]) == 2
    assert "twice" in capsys.readouterr().err
