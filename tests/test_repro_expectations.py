"""The table of what is expected of which release is validated before anything rests on it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from repro.expectations import RELEASES, TableError, at, read

FOUND = """
[[expect]]
scenario = "a"
failure = "bad"
torch = "<2.14"
found = true
budget = 9
directives = 2
state = "s"
"""
ABSENT = """
[[expect]]
scenario = "a"
failure = "bad"
torch = ">=2.14"
found = false
budget = 9
"""
GOOD = '[failures]\nbad = "^bad"\n' + FOUND + ABSENT


def table(folder: Path, text: str) -> Path:
    path = folder / "table.toml"
    path.write_text(text)
    return path


def test_the_table_of_the_suite_knows_every_release() -> None:
    rows = read()
    for release in RELEASES:
        assert len(at(release, rows)) == len({row.name for row in rows})


@pytest.mark.parametrize("release", ["2.5.0", "2.12.1", "2.13.0+cpu"])
def test_the_flag_family_is_expected_before_2_14(release: str) -> None:
    assert all(row.found for row in at(release, read()) if row.scenario.startswith("flag."))


@pytest.mark.parametrize("release", ["2.14.0", "2.14.1", "2.15.0+cu132", "2.16.0.dev20261101"])
def test_and_absent_since_where_it_takes_two_threads(release: str) -> None:
    assert not any(row.found for row in at(release, read()) if row.scenario.startswith("flag.") and row.scenario != "flag.gc")


@pytest.mark.parametrize(("release", "globals_too"), [("2.14.1", True), ("2.15.0", False)])
def test_what_a_collection_does_is_another_matter(release: str, globals_too: bool) -> None:
    found = {row.scenario for row in at(release, read()) if row.found and "gc" in row.scenario}
    assert found - {"gc.globals"} == {"flag.gc", "gc.finalizer_in_window"}
    assert ("gc.globals" in found) is globals_too


@pytest.mark.parametrize(("release", "hand_overs"), [("2.12.1", 1), ("2.13.0", 2)])
def test_compile_against_call_takes_one_more_hand_over_on_2_13(release: str, hand_overs: int) -> None:
    row = next(row for row in at(release, read()) if row.scenario == "flag.compile_vs_call")
    assert (row.least, row.most) == (hand_overs, hand_overs)


@pytest.mark.parametrize(
    ("scenario", "last", "first"),
    [
        ("config.patch_fifo", "2.11.0", "2.12.0"),
        ("config.shared_patch", "2.11.0", "2.12.0"),
        ("patcher.guard_skip_leak", "2.14.1", "2.15.0"),
    ],
)
def test_what_ended_at_a_release(scenario: str, last: str, first: str) -> None:
    found = [next(row.found for row in at(release, read()) if row.scenario == scenario) for release in (last, first)]
    assert found == [True, False]


@pytest.mark.parametrize("scenario", ["config.worker_thread", "config.engine_thread"])
def test_what_began_with_configuration_of_each_thread_needs_no_switch(scenario: str) -> None:
    before, since = (next(row for row in at(release, read()) if row.scenario == scenario) for release in ("2.11.0", "2.12.0"))
    assert not before.found
    assert (since.found, since.least, since.most) == (True, 0, 0)


@pytest.mark.parametrize(("release", "lacking"), [("2.5.1", 4), ("2.11.0", 2), ("2.13.0", 0)])
def test_what_a_release_lacks_is_not_searched_for(release: str, lacking: int) -> None:
    rows = [row for row in at(release, read()) if row.lacks]
    assert len(rows) == lacking
    assert not any(row.found for row in rows)


def test_what_is_said_to_be_lacking_is_there_where_it_is_not() -> None:
    """A name with a slip of the pen is lacking everywhere."""
    torch = pytest.importorskip("torch")
    here = {row.name for row in at(torch.__version__, read()) if row.lacks}
    names = {row.lacks for row in read() if row.lacks and row.name not in here}
    assert names
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_a_release_that_shows_something_else_says_which_way(tmp_path: Path) -> None:
    found, absent = (at(release, read(table(tmp_path, GOOD)))[0] for release in ("2.13.0", "2.14.0"))
    assert [found.differs(True, 2, "s"), found.differs(True, 1), absent.differs(False)] == ["", "", ""]
    assert absent.differs(True, 1).startswith("appeared")
    assert found.differs(False).startswith("fixed")
    assert found.differs(True, 3) == "changed: 3 directives in the smallest form, not 1 to 2"
    assert found.differs(True, 2, "t") == "changed: through t, not s"


def test_a_nightly_counts_as_the_release_it_leads_up_to(tmp_path: Path) -> None:
    rows = read(table(tmp_path, GOOD))
    assert [row.found for row in at("2.14.0.dev20260801+cpu", rows)] == [False]
    assert [row.found for row in at("2.13.0.dev20260401", rows)] == [True]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("<2.14", "<2.13", "0 rows apply to torch 2.13.0"),
        ("<2.14", "<2.15", "2 rows apply to torch 2.14.0"),
        ("<2.14", "about 2", "Invalid specifier"),
        ("found = true", 'found = "yes"', "found is true or false"),
        ("found = true\n", "", "found is true or false"),
        ("budget = 9\nd", "budget = 0\nd", "budget is a whole number"),
        ("directives = 2", "directives = -1", "directives is a number"),
        ("directives = 2", "directives = 2\nlacks = 'torch.b'", "missing or unknown: lacks"),
        ('found = false', 'found = false\nlacks = 1', "lacks is the name"),
        ("directives = 2", "directives = true", "directives is a number"),
        ("directives = 2", "directives = { about = 2 }", "directives is a number"),
        ('state = "s"', "", "missing or unknown: state"),
        ("directives = 2", "directives = 2\nseconds = 3", "missing or unknown: seconds"),
        ('failure = "bad"', 'failure = "worse"', "no failure 'worse'"),
        ('"^bad"', '"(bad"', "failure bad:"),
        ("[failures]", "[failings]", "exactly the parts"),
        ("[failures]", "[failures", "table.toml:"),
    ],
)
def test_a_table_that_cannot_be_relied_on_is_refused(
    tmp_path: Path, before: str, after: str, line: str
) -> None:
    assert before in GOOD
    with pytest.raises(TableError) as refused:
        read(table(tmp_path, GOOD.replace(before, after, 1)))
    assert line in str(refused.value)
