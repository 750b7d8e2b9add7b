"""Damage that raises nothing, and that no value of the program shows: the oracles see what torch made and ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule
from harness.schedule.schedule import Directive, HandOver

EAGER_MEANWHILE = """
import torch
class Shared:
    def __init__(self, axes):
        self.compiled = torch.compile(lambda x: x * 2 + 1, backend="eager")
        self.compiled(torch.ones(4))
def setter(shared):
    with torch.compiler.set_stance("force_eager"):
        marker("within")
def caller(shared):
    return shared.compiled(torch.ones(4)).tolist()
scenario = Scenario([setter, caller], setup=Shared, sequential=True, modules=["torch._dynamo.eval_frame"], leaks=[])
"""
FOREIGN_FACTOR = """
import torch
class Shared:
    def __init__(self, axes):
        self.factor = 2
def changer(shared):
    shared.factor = 3
    marker("within")
    shared.factor = 2
def tracer(shared):
    torch.fx.symbolic_trace(lambda x: x * shared.factor)
scenario = Scenario([changer, tracer], setup=Shared, sequential=True, modules=["torch.fx._symbolic_trace"], leaks=[])
"""


@pytest.mark.parametrize(
    ("source", "outcome", "signature", "says"),
    [
        (EAGER_MEANWHILE, "not compiled", "not compiled: T1", "T1 ran compiled code 0 times, but 1 times in each"),
        (FOREIGN_FACTOR, "graph changed", "graph changed: T1", "-mul = call_function mul([%x, 2], {}); +mul = call_function mul([%x, 3], {})"),
    ],
)
def test_planted_damage(tmp_path: Path, source: str, outcome: str, signature: str, says: str) -> None:
    with Launcher(write(tmp_path, source), jobs=1) as launcher:
        plain = Schedule(launcher.reference, 2)
        in_order, reverse, inside = launcher.map(
            [
                Job(plain),
                Job(Schedule(launcher.reference, 2, first=1)),
                Job(plain.with_directives((Directive("T0", "marker:within", 1, HandOver("T1")),))),
            ]
        )
    assert not in_order[1].findings
    assert not reverse[1].findings
    found: Report = inside[1]
    assert (found.outcome, found.signature) == (outcome, signature)
    assert says in found.message
    assert [finding.kind for finding in found.findings] == [outcome]
