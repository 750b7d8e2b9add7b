"""What is asked of a process that is to make one run: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.schedule.schedule import Schedule


@dataclass(frozen=True)
class Job:
    """fix       name of a fix, or ``none``
    strategy  how the threads are scheduled where the schedule's directives alone do not say: {"kind": "sparse"} or
              what a strategy needs to decide while running
    residue   no run at all: the fix is put in force and taken off, and what it leaves is the result
    plain     no control at all: threads as the interpreter runs them
    isolate   states that are each thread's own in this run
    in_main   no threads: the bodies run in the thread that did the set-up, in this order
    detail    record every access with file, line, value and stack, for an explanation
    frames    record which frames Dynamo's hook was given (:mod:`harness.control.frames`)
    """

    schedule: Schedule
    fix: str = "none"
    strategy: dict[str, Any] | None = None
    detail: bool = False
    isolate: tuple[str, ...] = ()
    plain: bool = False
    residue: bool = False
    frames: bool = False
    in_main: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "schedule": self.schedule.to_json(),
            "fix": self.fix,
            "strategy": self.strategy,
            "detail": self.detail,
            "isolate": list(self.isolate),
            "plain": self.plain,
            "residue": self.residue,
            "frames": self.frames,
            "in_main": list(self.in_main),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Job:
        return cls(
            Schedule.from_json(data["schedule"]), data["fix"], data["strategy"], data["detail"],
            tuple(data["isolate"]), data["plain"], data["residue"], data["frames"], tuple(data["in_main"]),
        )  # fmt: skip
