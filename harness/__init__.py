"""Deterministic exploration of thread schedules, for ``torch.compile`` and anything else.

The public face. A scenario is declared with :class:`Scenario`; bodies may name a place with :func:`marker` and
ask which thread they are with :func:`thread_index`, and take a thread of C code under control with :func:`adopted`; none
does anything outside a run.
"""

from .control.adopt import adopted
from .control.marks import marker, thread_index
from .scenario import TORCH_MODULES, Axes, Plain, Scenario

__all__ = ["TORCH_MODULES", "Axes", "Plain", "Scenario", "adopted", "marker", "thread_index"]
