"""What :class:`harness.run.world.World` is for a scenario: scan, instruments and back-end of a program that has been
loaded by its own main thread."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from harness.control import backends
from harness.control.instrument import Instruments
from harness.fixes.registry import own_modules
from harness.run import warm
from harness.run.world import World
from harness.scenario import Scenario
from harness.states import scan
from harness.states.kinds import ALL, WITH_TORCH

from . import collected, own
from .command import Command


class ProgramWorld(World):
    """``loaded`` False: nothing is scanned, since the program begins anew in every run."""

    def __init__(self, command: Command, free: bool, fixes: Sequence[str] = (), loaded: bool = True) -> None:
        self.command = command
        self.scenario = Scenario(
            [_main], summary=command.line, threads=(1, 1), sequential=False, seconds=command.seconds,
        )  # fmt: skip
        self.free = free
        tests = collected.modules
        self.module: ModuleType = tests[0] if tests else sys.modules["__main__"]
        if not loaded:
            return
        torch = own.uses_torch()
        if torch:
            importlib.import_module("torch._dynamo")  # what torch.compile would do at its first call
        fine = [*own.fine(command), *own_modules(fixes)]
        self.table = scan(own.scanned(command), fine, WITH_TORCH if torch else ALL)
        self.instruments = Instruments(self.table, free=free)
        self.backend = backends.make(self.instruments)
        if torch:
            warm.hide_from_dynamo()

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(own.scanned(self.command))

    def about(self) -> dict[str, Any]:
        return {**super().about(), "program": self.command.line}

    def _beside(self) -> list[str]:
        return own.beside(self.command)


def _main(shared: Any) -> None:
    raise AssertionError("the program's own main thread is its body")
