"""What torch made and ran in a run, by body: the graphs, and how often code that Dynamo compiled ran. Nothing is wrapped.

Two kinds of functions are watched as points are, by their start: ``GraphModule.__init__``, to which every finished graph
is given (a trace's, Dynamo's, AOT's, an export's), and the code that Dynamo made. A compiled function that runs as it was
written shows as a run that is not there.

All of this file is code of the controller's own: its functions are no places, and Dynamo's hook skips them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from .borrow import locals_of

if TYPE_CHECKING:
    from .managed import Managed

Told = Callable[["Managed", FrameType], None]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_BY_REPR = ("dtype", "device", "layout", "memory_format")


class Made:
    """Of one run; ``ran`` and ``graphs`` by index of the body from which a thread descends."""

    def __init__(self) -> None:
        self.ran: dict[int, int] = {}
        self.graphs: dict[int, list[str]] = {}

    def told(self) -> dict[str, dict[str, Any]]:
        bodies = sorted({*self.ran, *self.graphs})
        return {f"T{i}": {"ran": self.ran.get(i, 0), "graphs": self.graphs.get(i, [])} for i in bodies}


def told_of(code: CodeType) -> Told | None:
    """What is to be told when ``code`` starts, if anything."""
    outputs = getattr(sys.modules.get("torch._dynamo.convert_frame"), "output_codes", None)  # absent while it is imported
    if outputs is not None and id(code) in outputs.seen_ids:
        return _ran
    module = getattr(sys.modules.get("torch.fx.graph_module"), "GraphModule", None)
    if module is not None and code is module.__init__.__code__:
        return _graph
    return None


def _ran(me: Managed, frame: FrameType) -> None:
    ran = me.controller.made.ran
    ran[me.root] = ran.get(me.root, 0) + 1


def _graph(me: Managed, frame: FrameType) -> None:
    graph = locals_of(frame, me).get("graph")
    if hasattr(graph, "_root"):
        me.controller.made.graphs.setdefault(me.root, []).append(as_text(graph))


def as_text(graph: Any) -> str:
    """A ``torch.fx.Graph``, without calling any of torch's Python code: that has points."""
    lines = []
    node = graph._root._next
    while node is not graph._root:
        custom = node.meta.get("custom")
        tag = f" # {_value(custom)}" if custom else ""
        lines.append(f"{node.name} = {node.op} {_target(node.target)}({_value(node._args)}, {_value(node._kwargs)}){tag}")
        node = node._next
    return "\n".join(lines)


def _target(target: Any) -> str:
    if isinstance(target, str):
        return target
    for name in ("_name", "_qualified_op_name", "__qualname__", "__name__"):
        try:
            return str(object.__getattribute__(target, name))
        except AttributeError:
            continue
    return type(target).__name__


def _value(value: Any) -> str:
    kind = type(value)
    if kind in _PLAIN or (kind.__module__ == "torch" and kind.__name__ in _BY_REPR):
        return repr(value)
    if kind.__name__ == "Node":
        return f"%{value.name}"
    if issubclass(kind, dict):
        return "{" + ", ".join([f"{_value(key)}: {_value(value[key])}" for key in value]) + "}"
    if issubclass(kind, (list, tuple)):
        return "[" + ", ".join([_value(item) for item in value]) + "]"
    if kind is slice:
        return f"{_value(value.start)}:{_value(value.stop)}:{_value(value.step)}"
    return f"a {kind.__name__}" if not callable(value) else _target(value)
