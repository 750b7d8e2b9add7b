"""A row's tests go to one worker: it has one forking parent with torch in it, and they share one search."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest

from repro.expectations import UNSEEN, Expectation, at, read
from repro.family import file_of

#: Rows whose search is long for what it can still show.
SLOW = ("gc.generator_in_window", "gc.finalizer_in_window-call=export")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the argument ``present`` or ``absent`` is run for each row of that kind; ``seen``: present, and its state
    is one that the scan sees; ``lacking``: absent for want of what the scenario uses."""
    for kind in ("present", "absent", "lacking", "seen"):
        if kind in metafunc.fixturenames:
            rows = [row for row in at(version("torch"), read()) if row.found is (kind in ("present", "seen"))]
            rows = [row for row in rows if row.found or bool(row.lacks) is (kind == "lacking")]
            rows = [row for row in rows if kind != "seen" or row.state != UNSEEN]
            rows = [row for row in rows if file_of(row) == metafunc.module.__name__.rpartition(".")[2]]
            metafunc.parametrize(kind, [pytest.param(row, id=row.name, marks=_marks(row)) for row in rows])


def _marks(row: Expectation) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if row.name in SLOW else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A file's tests of a kind of which this release has no row are not there, rather than skipped."""
    empty = [item for item in items if item.name.endswith("[NOTSET]")]
    if empty:
        config.hook.pytest_deselected(items=empty)
        items[:] = [item for item in items if item not in empty]


def group_of(nodeid: str) -> str:
    """Tests of the same group go to the same worker. Outside this folder each test is a group of its own."""
    file, _, test = nodeid.partition("::")
    function, _, parameter = test.partition("[")
    if not file.startswith("repro/"):
        return nodeid
    return parameter if parameter.rstrip("]") in {row.name for row in read()} else function


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """In place of the marker ``xdist_group``, which pytest-xdist 3.8 ignores under pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    if config.getoption("dist") != "load":
        return None  # someone chose otherwise
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = group_of
    return scheduler
