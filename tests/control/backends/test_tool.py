"""The tools of ``sys.monitoring``."""

from __future__ import annotations

import sys

import pytest


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is of 3.12")
def test_a_tool_id_that_is_taken_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.control.backends import tool

    monkeypatch.setattr(tool.MONITORING, "get_tool", lambda number: "debugger")
    with pytest.raises(RuntimeError, match="4 by debugger"):
        tool._use("harness")
