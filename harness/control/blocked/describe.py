"""A blocked thread in words: what it waits for, who holds that and since where."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import raw
from ..notify import unheard

if TYPE_CHECKING:
    from ..managed import Managed

_OURS = __name__.rsplit(".", 3)[0] + "."


@dataclass(frozen=True)
class WaitReport:
    thread: str
    status: str
    waits_for: str
    held_by: str
    site: str
    stack: list[str]
    name: str = ""  # of what it waits for: the same in every run
    remark: str = ""


def stack_of(ident: int) -> list[str]:
    """The Python stack of a thread, outermost first, without the controller's own frames."""
    frame = raw.current_frames().get(ident)
    lines = []
    for summary in traceback.StackSummary.extract(traceback.walk_stack(frame), lookup_lines=False):
        if "/harness/control/" not in summary.filename.replace("\\", "/"):
            lines.append(f"{summary.filename}:{summary.lineno} {summary.name}")
    return lines[::-1]


def describe(me: Managed) -> WaitReport:
    waiting = me.waiting
    holder = getattr(waiting, "holder", None)
    return WaitReport(
        thread=me.name,
        status=me.status.value,
        waits_for=getattr(waiting, "title", None) or (f"the end of {waiting.name}" if hasattr(waiting, "name") else ""),
        held_by=holder() if holder is not None else "",
        site=me.where,
        stack=stack_of(me.ident),
        name=me.blocked_name,
        remark=unheard(me.controller, waiting) if getattr(waiting, "notify", False) else "",
    )
