"""Schedules of the examples and built-in scenarios that fail, for what is made from a failure."""

from __future__ import annotations

from pathlib import Path

from support.inline import at

from harness.run.launch import Launcher
from harness.schedule import Directive, Schedule

ROOT = Path(__file__).resolve().parents[2]
FLAG = "torch.fx._symbolic_trace._is_fx_tracing_flag"
CALL = "torch.nn.modules.module.Module.__call__"


def example(name: str, *directives: Directive, first: int = 0, threads: int = 2) -> Schedule:
    return Schedule(str(ROOT / "examples" / "fail" / f"{name}.py"), threads, first, directives=directives)


LOST = example("lost_update", at("T1", "call:lost_update.successor", "T0"), first=1)
SAVED = example(
    "save_restore_global",
    at("T0", "write:save_restore_global.verbose", "T1"),
    at("T1", "write:save_restore_global.verbose", "T0"),
)
BOUGHT = example("check_then_act", at("T1", "line:check_then_act.buy+1", "T0"), first=1)
HALF = example("double_checked_init", at("T0", "write:double_checked_init.config", "T1"))
LOCKED = example("ab_ba_deadlock", at("T1", "lock:ab_ba_deadlock.to_left", "T0"), first=1)
COLLECTED = example("finalizer_against_main", at("T1", "lock:finalizer_against_main.use", 0))

WARM = Schedule("flag.warm", 2, directives=(at("T0", f"write:{FLAG}", "T1"),))
MASKED = Schedule("flag.compile_vs_call", 2, directives=(at("T0", f"write:{FLAG}", "T1"), at("T1", f"read:{FLAG}", "T0")))
STRANDED = Schedule("flag.stranded", 2, directives=(at("T1", f"write:{FLAG}", "T0"), at("T0", f"write:{FLAG}", "T1")))
FOREIGN = Schedule("patcher.foreign_call", 2, directives=(at("T0", f"write:{CALL}", "T1", 2),))


def launcher(schedule: Schedule) -> Launcher:
    return Launcher(schedule.scenario, free=schedule.free, jobs=1)
