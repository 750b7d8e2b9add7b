"""What a stand-in in ``sys.modules`` changes, and for whom."""

from __future__ import annotations

from harness.control.actions import HandOver
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Directive, Schedule

FLAG = "torch.fx._symbolic_trace._is_fx_tracing_flag"


def test_functions_read_the_module_that_they_were_defined_in_and_so_does_the_explanation() -> None:
    inside = Schedule("flag.warm", 2, directives=(Directive("T0", f"write:{FLAG}", 1, HandOver("T1")),))
    with Launcher("flag.warm", jobs=1) as launcher:
        report = launcher.run(Job(inside, "sys_modules_shim", detail=True))
    assert report.outcome == "error"
    seen = [access["value"] for access in report.accesses if access["state"] == FLAG and access["thread"] == "T1"]
    assert seen[0] == "True"
