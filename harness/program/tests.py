"""Runs pytest in this process, and keeps what its tests raised."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.states.scan import file_module

from .collected import Ends, Failed, failed, modules


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


    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        if Ends.call is not None:
            Ends.call(Failed(int(exitstatus)) if exitstatus else None)


def _remember(module: ModuleType) -> None:
    """pytest's loader, which rewrites asserts, does not give the code away."""
    path = getattr(module, "__file__", None)
    if path is not None and not hasattr(module, "__harness_code__"):
        file_module(module, compile(Path(path).read_bytes(), path, "exec", dont_inherit=True))


def run_pytest(arguments: list[str]) -> None:
    """Raises Failed where its status is not 0."""
    # What is printed is kept in memory: a file would be one for all the processes that are forked from here.
    ours = ["--capture=sys", "-p", "no:cacheprovider", "-W", "error::pytest.PytestUnhandledThreadExceptionWarning"]
    os.environ["PYTEST_TIMEOUT"] = "0"  # time is virtual
    sys.argv = ["pytest", *arguments]
    sys.path[0] = os.getcwd()
    status = int(pytest.main([*ours, *arguments], plugins=[_Notes()]))
    if status:
        raise Failed(status)
