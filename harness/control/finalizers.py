"""Which of the program's code a collection runs: finalizers, weakref callbacks, generators being closed.

The interpreter runs such code straight from ``gc.collect``, so it is every Python frame whose caller is the frame
that collects. A profile function sees them start; it is set for the time of the collection only, keeps no object
of the program alive, and runs none of its code. Callbacks written in C are not seen.
"""

from __future__ import annotations

import gc
import os
import weakref
from types import CodeType, FrameType, FunctionType
from typing import Any

_HARNESS = os.path.dirname(os.path.dirname(__file__))
_OURS = tuple(os.path.join(_HARNESS, folder) + os.sep for folder in ("control", "oracles", "run"))
_SUSPENDABLE = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR

FINALIZER, CALLBACK, GENERATOR, OTHER = "finalizer", "weakref callback", "generator", "code"


def _qualname(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


class Finalizers:
    """A profile function. Appends to ``ran``, for each piece of code that the collector starts, a dictionary:

    kind      ``finalizer``, ``weakref callback``, ``generator`` or ``code``
    type      of the object that died or is being finalized, empty where it isn't known
    function  module and qualified name; ``file`` and ``line`` where it is defined
    calls     the first Python function it called, empty where it called none
    raised    the exception that Python only reports, empty where there was none (filled in by the run)
    """

    def __init__(self, generation: int, ran: list[dict[str, Any]]) -> None:
        self.base: FrameType | None = None  # the frame that collects
        self.ran = ran
        #: id of a weak reference with a callback -> type of what it refers to
        self.referents: dict[int, str] = {}
        for young in range(generation + 1):
            for value in gc.get_objects(generation=young):
                self._watched(value)
                if type(value) is FrameType:  # code objects are not tracked: only what holds them is
                    self._watched(value.f_code)
                elif type(value) is FunctionType:
                    self._watched(value.__code__)

    def _watched(self, value: Any) -> None:
        for ref in weakref.getweakrefs(value):
            # not of proxies: an attribute of theirs is one of the object
            if issubclass(type(ref), weakref.ref) and ref.__callback__ is not None:
                self.referents[id(ref)] = _qualname(value)

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "call":
            return
        back = frame.f_back
        if back is None or frame.f_code.co_filename.startswith(_OURS):
            return
        if back is self.base:
            self.ran.append(self._describe(frame))
        elif back.f_back is self.base and self.ran and not self.ran[-1]["calls"]:
            self.ran[-1]["calls"] = _name(frame)

    def _describe(self, frame: FrameType) -> dict[str, Any]:
        code = frame.f_code
        kind, of = OTHER, ""
        if code.co_flags & _SUSPENDABLE:
            kind, of = GENERATOR, code.co_name
        elif code.co_name == "__del__" and code.co_argcount:
            kind, of = FINALIZER, _qualname(frame.f_locals[code.co_varnames[0]])
        else:
            for value in _arguments(code, frame):
                if issubclass(type(value), weakref.ref):
                    kind, of = CALLBACK, of or self.referents.get(id(value), "")
        return {
            "kind": kind,
            "type": of.removeprefix("builtins."),
            "function": _name(frame),
            "file": code.co_filename,
            "line": code.co_firstlineno,
            "calls": "",
            "raised": "",
        }


def _name(frame: FrameType) -> str:
    code = frame.f_code
    return f"{frame.f_globals.get('__name__', '?')}.{getattr(code, 'co_qualname', code.co_name)}"


def _arguments(code: CodeType, frame: FrameType) -> list[Any]:
    """The values of the positional arguments, ``*args`` among them."""
    names, space = code.co_varnames, frame.f_locals
    found = [space[name] for name in names[: code.co_argcount] if name in space]
    if code.co_flags & 0x04:  # CO_VARARGS
        found += space.get(names[code.co_argcount + code.co_kwonlyargcount], ())
    return found
