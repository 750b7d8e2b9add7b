"""Every fix that comes with the harness leaves torch as it was."""

from __future__ import annotations

import pytest

from harness.errors import UserError
from harness.fixes import find_fix, fix_names
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule


@pytest.fixture(scope="module")
def launcher():
    with Launcher("flag.warm", jobs=1) as made:
        yield made


@pytest.mark.parametrize("name", [name for name in fix_names() if find_fix(name).apply])
def test_when_it_is_no_longer_in_force(launcher: Launcher, name: str) -> None:
    try:
        report = launcher.run(Job(Schedule("flag.warm", 2), name, residue=True))
    except UserError as error:
        assert "has no torch." in str(error)  # a release without what it is about says so
        return
    assert report.results == []
