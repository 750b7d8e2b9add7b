"""A loaded scenario, ready to be run again and again: module, scan, instruments, fixes."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from harness.control import backends
from harness.control.instrument import Instruments
from harness.errors import UserError
from harness.fixes.registry import Fix, find_fix, own_modules
from harness.scenario import Scenario
from harness.scenario.digest import source_digest
from harness.scenario.load import load
from harness.scenario.validate import require_modules
from harness.states import Table, scan
from harness.states.scan import modules_of
from harness.states.values import remember, there_is


class World:
    """Raises UserError where the scenario cannot be loaded. ``points``: kinds of points other than it says; ``fixes``: names
    of those that runs may be asked to put in force, since the code of a user's own has points too."""

    def __init__(
        self, reference: str, free: bool = False, points: Sequence[str] | None = None, fixes: Sequence[str] = ()
    ) -> None:
        self.scenario: Scenario
        self.module: ModuleType
        self.scenario, self.module = load(reference)
        self.free = free
        if self.scenario.needs_torch:
            from . import warm

            warm.torch()
        if self.scenario.prepare is not None:
            try:
                self.scenario.prepare()
            except UserError as error:  # it says what is missing here
                raise UserError(f"{reference}: {error}") from None
            except (Exception, SystemExit) as error:
                raise UserError(f"{reference}: prepare raised: {type(error).__name__}: {error}") from None
        require_modules(self.scenario, reference)
        fine = list({id(module): module for module in (self.module, *self._fine(), *own_modules(fixes))}.values())
        self._looked_into = fine
        self.table: Table = scan(self.scenario.modules, fine, points or self.scenario.kinds, self.scenario.entries)
        if self.scenario.leaks is not None:
            self.table.save_restore = sorted(filter(there_is, set(self.scenario.leaks)))
        self.instruments = Instruments(self.table, free=free)
        self.backend = backends.make(self.instruments)
        if self.scenario.needs_torch:
            from . import warm

            warm.hide_from_dynamo()
            remember(self.table.files.values())

    def _fine(self) -> list[ModuleType]:
        import importlib

        try:
            return [importlib.import_module(name) for name in self.scenario.fine]
        except ImportError as error:
            raise UserError(f"fine: {error}") from None

    @property
    def modules(self) -> tuple[str, ...]:
        """What is scanned besides the scenario's own file."""
        return tuple(self.scenario.modules)

    def fix(self, name: str) -> Fix | None:
        return None if name == "none" else find_fix(name)

    def is_per_process(self, name: str) -> bool:
        return find_fix(name).processes

    def about(self) -> dict[str, Any]:
        return {
            "states": len(self.table.states),
            "sites": self.table.sites,
            "modules": self.table.modules,
            "save_restore": self.table.save_restore,
            "compares": self.scenario.compares,
            "expect": self.scenario.expect,
            "threads": list(self.scenario.thread_range),
            "bodies": len(self.scenario.bodies),
            "axes": {name: list(values) for name, values in self.scenario.axes.items()},
            "seconds": self.scenario.seconds,
            "fork_after_setup": self.scenario.fork_after_setup and self.scenario.setup is not None,
            "beside": self._beside(),
            "summary": self.scenario.summary,
            "python": platform.python_version(),
            "torch": self._torch_version(),
            "digest": source_digest(self.module),
        }

    def _beside(self) -> list[str]:
        """Modules of the scenario's own folder that were loaded with it and not looked into."""
        file = getattr(self.module, "__file__", None)
        if file is None or self.module.__name__.startswith("harness."):
            return []
        folder, looked_into = os.path.dirname(file), [*modules_of(self.scenario.modules), *self._looked_into]
        known = {module.__name__ for module in looked_into}
        found = [
            name for name, module in list(sys.modules.items())
            if name not in known and module is not self.module and name != "__main__"
            and os.path.dirname(getattr(module, "__file__", None) or "") == folder
        ]  # fmt: skip
        return sorted(found)

    def _torch_version(self) -> str:
        torch = sys.modules.get("torch")
        return getattr(torch, "__version__", "") if torch is not None else ""
