"""Runs pytest in this process, and keeps what its tests raised."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.states.scan import file_module

#: (node id, exception) of every test, fixture or collection that failed, in order.
failed: list[tuple[str, BaseException]] = []

#: Modules of the tests that were collected: every place in them is a point.
modules: list[ModuleType] = []


class _Notes:
    def pytest_collection_finish(self, session: Any) -> None:
        found = {getattr(item, "module", None): None for item in session.items}
        for module in found:
            if isinstance(module, ModuleType) and module not in modules:
                _remember(module)
                modules.append(module)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if getattr(report, "failed", False):
            failed.append((node.nodeid, call.excinfo.value))


def _remember(module: ModuleType) -> None:
    """pytest's loader, which rewrites asserts, does not give the code away."""
    path = getattr(module, "__file__", None)
    if path is not None and not hasattr(module, "__harness_code__"):
        file_module(module, compile(Path(path).read_bytes(), path, "exec", dont_inherit=True))


class Failed(Exception):
    """Tests failed; ``status`` is pytest's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"pytest exited with status {status}")
        self.status = status


def run_pytest(arguments: list[str]) -> None:
    """Raises Failed where its status is not 0."""
    import pytest

    # What is printed is kept in memory: a file would be one for all the processes that are forked from here.
    ours = ["--capture=sys", "-p", "no:cacheprovider", "-W", "error::pytest.PytestUnhandledThreadExceptionWarning"]
    os.environ["PYTEST_TIMEOUT"] = "0"  # time is virtual
    sys.argv = ["pytest", *arguments]
    sys.path[0] = os.getcwd()
    status = int(pytest.main([*ours, *arguments], plugins=[_Notes()]))
    if status:
        raise Failed(status)
