"""One worker a row: it has one forking parent with torch in it, and the tests of the row share one search."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from repro.expectations import Expectation, at, read


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the argument ``present`` or ``absent`` is run for each row of that kind."""
    for kind, found in (("present", True), ("absent", False)):
        if kind in metafunc.fixturenames:
            rows = [row for row in at(version("torch"), read()) if row.found is found]
            metafunc.parametrize(kind, [_param(row) for row in rows])


def _param(row: Expectation) -> object:
    return pytest.param(row, id=row.name, marks=pytest.mark.xdist_group(row.name))
