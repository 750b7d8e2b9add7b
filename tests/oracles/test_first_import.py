"""A body is the first to import ``torch._dynamo``: what is asked of its modules meanwhile must not fail the body."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

FIRST = """
import torch

def strict(shared):
    torch.use_deterministic_algorithms(True)

scenario = Scenario([strict])
"""


def test_dynamo_is_imported_by_a_body(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    reference = write(tmp_path, FIRST)
    with Launcher(reference, jobs=1) as launcher:
        report = launcher.run(Job(Schedule(reference, 1)))
    assert not report.failed, report.message
