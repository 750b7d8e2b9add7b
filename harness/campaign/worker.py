"""A process of a campaign that makes units, one after another, each on the launcher of its scenario.

``python -m harness.campaign.worker FD PARENT`` is told units over the socket FD and tells what comes of them. It ends
with its parent, and its launcher with it.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from typing import Any

from harness.errors import CannotTest, UserError
from harness.run import wire
from harness.run.death import die_with_parent
from harness.run.launch import Launcher

from .plan import Cell, Plan
from .unit import run_unit

_EVERY = 0.25  # seconds between two words on how far a unit is


class Worker:
    def __init__(self, client: socket.socket) -> None:
        self.client = client
        self.launcher: Launcher | None = None
        self.interpreter: str | None = None
        self._said = 0.0

    def serve(self) -> None:
        """First message: the plan, and whose Python makes the runs. Every other: the number of a unit."""
        reader, plan = wire.Reader(), None
        while data := self.client.recv(1 << 16):
            for message in reader.feed(data):
                if plan is None:
                    plan, self.interpreter = Plan.from_json(message["plan"]), message["interpreter"]
                else:
                    self._make(plan, message["unit"])

    def _make(self, plan: Plan, number: int) -> None:
        unit, began = plan.unit(number), time.monotonic()

        def tell(message: dict[str, Any]) -> None:
            if "ran" in message:
                if time.monotonic() - self._said < _EVERY:
                    return
                self._said = time.monotonic()
            self._send({"unit": number, **message})

        try:
            done = run_unit(self._of(unit.cell, plan.free, [plan.fix]), plan, unit, tell)
            self._send({"unit": number, "done": done, "seconds": round(time.monotonic() - began, 3)})
        except (UserError, CannotTest) as error:
            self._send({"unit": number, "error": str(error), "mistake": isinstance(error, UserError)})

    def _of(self, cell: Cell, free: bool, fixes: list[str]) -> Launcher:
        if self.launcher is None or self.launcher.reference != cell.scenario:
            if self.launcher is not None:
                self.launcher.close()
            self.launcher = Launcher(cell.scenario, free=free, jobs=1, python=self.interpreter, fixes=fixes)
            if self.launcher.about["digest"] != cell.digest:
                raise UserError(f"{cell.scenario}: its source changed while the campaign ran")
        return self.launcher

    def _send(self, message: dict[str, Any]) -> None:
        self.client.sendall(wire.pack(message))


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # and the launcher is closed on the way out
    die_with_parent(int(sys.argv[2]))
    worker = Worker(socket.socket(fileno=int(sys.argv[1])))
    try:
        worker.serve()
    except ConnectionError:
        pass  # the parent has gone
    finally:
        if worker.launcher is not None:
            worker.launcher.close()


if __name__ == "__main__":
    main()
