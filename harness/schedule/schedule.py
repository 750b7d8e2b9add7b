"""A schedule: axes, directives, and the default rule for all that is not said.

The default rule: thread ``first`` starts; a thread runs until it blocks or ends; then the lowest thread that can run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from harness.control.actions import Action, Collect, HandOver
from harness.scenario import RESERVED, Plain

_THREAD = re.compile(r"T\d{1,3}(\.\d{1,6}){0,6}")
_POINT = re.compile(r"[a-z]{1,12}(:[^\s@,]{1,300})?")


@dataclass(frozen=True)
class Directive:
    """At ``thread``'s ``n``-th passing of ``point``: ``action``. Raises ValueError where a part is not of its form."""

    thread: str
    point: str
    n: int
    action: Action

    def __post_init__(self) -> None:
        if not _THREAD.fullmatch(self.thread):
            raise ValueError(f"{self.thread!r} is no thread name (T0, T1, T0.1)")
        if not _POINT.fullmatch(self.point):
            raise ValueError(f"{self.point!r} is no point")
        if not 1 <= self.n < 10**9:
            raise ValueError(f"a point is passed for the {self.n}th time: count from 1")
        if isinstance(self.action, HandOver) and not _THREAD.fullmatch(self.action.target):
            raise ValueError(f"{self.action.target!r} is no thread name (T0, T1, T0.1)")
        if isinstance(self.action, Collect) and self.action.generation not in (0, 1, 2):
            raise ValueError(f"generation {self.action.generation}: 0, 1 or 2")

    @property
    def does(self) -> str:
        return self.action.target if isinstance(self.action, HandOver) else f"gc{self.action.generation}"

    def __str__(self) -> str:
        nth = f" (passing {self.n})" if self.n > 1 else ""
        what = f"hand over to {self.does}" if isinstance(self.action, HandOver) else f"collect generation {self.does[2:]}"
        return f"{self.thread} after {self.point}{nth}: {what}"


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def action_of(text: str) -> Action:
    return Collect(int(text[2:])) if re.fullmatch(r"gc\d", text) else HandOver(text)


@dataclass(frozen=True)
class Schedule:
    """scenario    its reference: a built-in name, ``file.py:name`` or ``package.module:name``
    threads     how many (1 to 99)
    first       index of the thread that starts
    free        hand over right at points, as only a free-threaded interpreter could
    axes        chosen values of the scenario's own axes, where not the default
    directives  in any order
    """

    scenario: str
    threads: int
    first: int = 0
    free: bool = False
    axes: dict[str, Plain] = field(default_factory=dict)
    directives: tuple[Directive, ...] = ()

    def __post_init__(self) -> None:
        if "\0" in self.scenario or not _encodable(self.scenario):
            raise ValueError(f"{self.scenario!r}: no name a scenario can have")
        for name in self.axes:
            if name in RESERVED or not name.isidentifier():
                raise ValueError(f"axis {name!r}: not a name an axis can have")
        if not 1 <= self.threads <= 99:
            raise ValueError(f"threads={self.threads}: 1 to 99")
        if not 0 <= self.first < self.threads:
            raise ValueError(f"first={self.first}: there are threads 0 to {self.threads - 1}")

    def with_directives(self, directives: tuple[Directive, ...]) -> Schedule:
        return replace(self, directives=directives)

    def to_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "threads": self.threads,
            "first": self.first,
            "mode": "free" if self.free else "gil",
            "axes": dict(self.axes),
            "directives": [
                {"thread": d.thread, "point": d.point, "n": d.n, "action": d.does} for d in self.directives
            ],
        }

    @classmethod
    def from_json(cls, data: Any) -> Schedule:
        """Raises ValueError where ``data`` is not what :meth:`to_json` makes."""
        wanted = {"scenario": str, "threads": int, "first": int, "mode": str, "axes": dict, "directives": list}
        if not isinstance(data, dict) or set(data) != set(wanted):
            raise ValueError(f"a schedule has exactly the keys {', '.join(wanted)}")
        for key, kind in wanted.items():
            if not isinstance(data[key], kind) or isinstance(data[key], bool):
                raise ValueError(f"{key}: not a {kind.__name__}")
        if data["mode"] not in ("gil", "free"):
            raise ValueError(f"mode {data['mode']!r}: gil or free")
        directives = []
        for item in data["directives"]:
            if not isinstance(item, dict) or set(item) != {"thread", "point", "n", "action"}:
                raise ValueError("a directive has exactly the keys thread, point, n, action")
            texts = all(isinstance(item[k], str) for k in ("thread", "point", "action"))
            if not texts or not isinstance(item["n"], int) or isinstance(item["n"], bool):
                raise ValueError("a directive's n is a number, its thread, point and action are strings")
            directives.append(Directive(item["thread"], item["point"], item["n"], action_of(item["action"])))
        return cls(
            data["scenario"], data["threads"], data["first"], data["mode"] == "free", data["axes"], tuple(directives)
        )
