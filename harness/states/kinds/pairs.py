"""State inside C that only a getter and a setter show: ``sys.setrecursionlimit`` and ``getrecursionlimit``.

Functions of one C module (or methods of one C object held in a name) are paired by what their names say. The state is
called after its getter, ``sys.getrecursionlimit()``, and that is how its value is found. C code may read it anywhere,
so a thread that sets it is reason enough for a hand-over: no other thread need be seen touching it.

A setter without a getter, of which some code keeps or hands on what it returns, gives back what was there:
``set_eval_frame``. Such a state is called after its setter, and its value is not known.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Iterator, Set
from functools import cache
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any

from ..codes import Access
from ..flow import Event
from ..value import MISSING, Value
from .kind import Found

_SETTER = re.compile(r"_*set_?(?=.)")
_GETTER = re.compile(r"_*(get|is|are)_?(?=.)")
#: Names that do not say it: setter -> getter.
_IRREGULAR = {"chdir": "getcwd", "fchdir": "getcwd", "enable": "isenabled", "disable": "isenabled"}

#: Of other things than the process: of an object, of a thread (and ours).
_NONE = (getattr, setattr, operator.setitem, sys.settrace, sys.gettrace, sys.setprofile, sys.getprofile)

_C_TYPES: tuple[Any, ...] = (BuiltinFunctionType, type(list.append), type(list.__dict__["__add__"]))


def _stem(name: str) -> str:
    return name.replace("_", "").removesuffix("enabled")


@cache
def _pairs_of(space: tuple[str, ...]) -> dict[str, str]:
    """Function name -> name of the getter of its pair, for getters and setters both."""
    have = set(space)
    getters: dict[str, str] = {}
    for name in space:
        match = _GETTER.match(name)
        if match is not None:
            getters.setdefault(_stem(name[match.end() :]), name)
    found = {setter: getter for setter, getter in _IRREGULAR.items() if setter in have and getter in have}
    for name in space:
        match = _SETTER.match(name)
        if match is not None:
            rest = name[match.end() :]
            getter = getters.get(_stem(rest)) or (rest if rest in have else None)
            if getter is not None:
                found[name] = getter
    found.update({getter: getter for getter in list(found.values())})
    return found


def pair_of(called: Value) -> tuple[str, bool] | None:
    """(state, is it set) of a call of ``called``; None for what is no such function."""
    function = called.object
    if function in _NONE:
        return None
    if isinstance(function, BuiltinFunctionType) and isinstance(function.__self__, ModuleType):
        owner, where = vars(function.__self__), function.__self__.__name__
        name = function.__name__
    elif isinstance(called.base, Value) and called.base.state and _in_c(called.base.object):
        owner, where, name = vars(type(called.base.object)), called.base.state, called.name
        function = owner.get(name, MISSING)
    else:
        return None
    if not isinstance(function, _C_TYPES):
        return None
    getter = _pairs_of(_c_functions(where, owner)).get(name)
    return None if getter is None else (f"{where}.{getter}()", name != getter)


def swap_of(called: Value) -> str | None:
    """The state that this C function sets, where it has no getter."""
    function = called.object
    if function in _NONE or not isinstance(function, BuiltinFunctionType) or not isinstance(function.__self__, ModuleType):
        return None
    if not _SETTER.match(function.__name__) or pair_of(called) is not None:
        return None
    return f"{function.__self__.__name__}.{function.__name__}"


def _kept(event: Event) -> Value | None:
    """The function whose result this event puts into a local or an attribute, or hands on to the caller."""
    value = event.base if event.what in ("save", "return") else event.args[0] if event.what == "set" else None
    return value.base if value is not None and value.kind == "call" and isinstance(value.base, Value) else None


_known: dict[str, tuple[str, ...]] = {}


def _c_functions(where: str, owner: Any) -> tuple[str, ...]:
    if where not in _known:
        _known[where] = tuple(name for name, value in list(owner.items()) if isinstance(value, _C_TYPES))
    return _known[where]


def _in_c(value: Any) -> bool:
    return value is not MISSING and not isinstance(value, (type, ModuleType)) and not type(value).__flags__ & 1 << 9


def _word(name: str) -> bool:
    return name in _IRREGULAR or bool(_SETTER.match(name))


class Pairs:
    name = "pairs"
    within = False

    def may_make(self, code: CodeType, fine: bool) -> bool:
        return any(_word(name) for name in code.co_names)

    def makes(self, found: Found) -> Iterator[str]:
        for event in found.events:
            pair = pair_of(event.base) if event.what == "call" else None
            if pair is not None and pair[1]:
                yield pair[0]
            kept = _kept(event)
            swap = swap_of(kept) if kept is not None else None
            if swap is not None:
                yield swap

    def words(self, states: Set[str]) -> set[str]:
        getters = {state.rpartition(".")[2].removesuffix("()") for state in states}
        setters = {name for space in _known.values() for name, getter in _pairs_of(space).items() if getter in getters}
        return getters | setters  # a swap is called after its setter

    def sites(self, found: Found, states: Set[str]) -> Iterator[tuple[int, Access]]:
        for event in found.events:
            pair = pair_of(event.base) if event.what == "call" else None
            if pair is not None and pair[0] in states:
                yield event.offset, Access(*pair)
            swap = swap_of(event.base) if event.what == "call" else None
            if swap in states and swap is not None:
                yield event.offset, Access(swap, True)
