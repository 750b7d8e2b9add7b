"""A stand-in for a module: all its names, and ``_is_fx_tracing_flag`` each thread's own."""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any


def shim_of(module: ModuleType) -> ModuleType:
    mine = threading.local()

    class Shim(ModuleType):
        @property
        def _is_fx_tracing_flag(self) -> bool:
            return getattr(mine, "flag", False)

        @_is_fx_tracing_flag.setter
        def _is_fx_tracing_flag(self, value: bool) -> None:
            mine.flag = value

        def __getattr__(self, name: str) -> Any:
            return getattr(module, name)

    return Shim(module.__name__)
