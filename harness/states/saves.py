"""States that code saves and later stores back: when all is over they must be as before.

What is saved may lie in a local, in an attribute of ``self`` (``__enter__`` and ``__exit__`` of one class), or in a
list, deque or dictionary held by either, or by a name. A function that sets a state to what it is given and returns
what was there before is made for callers that put it back.
"""

from __future__ import annotations

from collections.abc import Iterator

from .kinds import Found
from .kinds.pairs import pair_of
from .value import Value

_PUSHES = ("append", "appendleft", "add", "push")
_POPS = ("pop", "popleft")


class Saves:
    """Collects from function after function; then tells."""

    def __init__(self) -> None:
        self._saved: dict[str, set[str]] = {}  # place -> states put there
        self._restored: dict[str, set[str]] = {}  # place -> states set from what was there
        self._direct: set[str] = set()

    def look(self, found: Found) -> None:
        self._direct.update(_exchanged(found))
        for event in found.events:
            if event.what == "set":
                self._save(_place(Value("attr", event.name, event.base), found), event.args[0])
            elif event.what == "set item":
                self._save(_place(event.base, found), event.args[0])
            elif event.what == "save" and event.base.kind == "items":
                self._save(_place(Value("local", event.name), found), event.base)
            elif event.what == "write":
                self._restore(f"{event.owner}.{event.name}", event.args[0], found)
            elif event.what == "call":
                if event.base.name in _PUSHES and len(event.args) == 1 and isinstance(event.base.base, Value):
                    self._save(_place(event.base.base, found), event.args[0])
                pair = pair_of(event.base)
                if pair is not None and pair[1] and event.args:
                    self._restore(pair[0], event.args[0], found)

    def _save(self, place: str | None, value: Value) -> None:
        for part in value.base if value.kind == "items" else (value,):
            state = _read_of(part)
            if place is not None and state is not None:
                self._saved.setdefault(place, set()).add(state)

    def _restore(self, state: str, value: Value, found: Found) -> None:
        if value.slot and _read_of(value) == state:
            self._direct.add(state)
        source = value.base if value.kind == "item" else value
        if value.kind == "call" and value.name in _POPS and isinstance(value.base, Value):
            source = value.base.base
        place = _place(source, found) if isinstance(source, Value) else None
        if place is not None:
            self._restored.setdefault(place, set()).add(state)

    def states(self) -> Iterator[str]:
        yield from self._direct
        for place, states in self._restored.items():
            yield from states & self._saved.get(place, set())


def _exchanged(found: Found) -> Iterator[str]:
    """States that a function puts into a local, sets to an argument, and then returns from there."""
    given = found.code.co_varnames[: found.code.co_argcount]
    saved: set[str] = set()
    written: set[str] = set()
    for event in found.events:
        if event.what == "save":
            saved.add(event.base.state)
        elif event.what == "write" and event.args[0].kind == "local" and event.args[0].name in given:
            written.update(saved & {f"{event.owner}.{event.name}"})
        elif event.what == "return" and event.base.slot and event.base.state in written:
            yield event.base.state


def _read_of(value: Value) -> str | None:
    """The state that this value was read from."""
    if value.state:
        return value.state
    pair = pair_of(value.base) if value.kind == "call" and isinstance(value.base, Value) else None
    return None if pair is None else pair[0]


def _place(value: Value, found: Found) -> str | None:
    """A name for a place that outlives one function, or a list in a local."""
    if value.state:
        return value.state
    if value.kind == "attr" and isinstance(value.base, Value) and value.base.name == "self":
        return f"{found.module.__name__}.{found.qualname.rpartition('.')[0]}:{value.name}"
    if value.kind == "local" or (value.kind == "items" and value.slot):
        return f"{found.module.__name__}.{found.qualname}/{value.slot or value.name}"
    return None
