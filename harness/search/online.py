"""Deciders that decide while a run goes on, made from what a proposal says."""

from __future__ import annotations

from typing import Any

from harness.control.actions import Decider

from .eager import Eager
from .pct import PCTDecider
from .surw import SURWDecider
from .walk import WalkDecider


def make(online: dict[str, Any]) -> Decider:
    """Raises ValueError for a kind that is none."""
    if online["kind"] == "pct":
        return PCTDecider(online["order"], online["changes"], online["watch"])
    if online["kind"] == "surw":
        return SURWDecider(online["seed"], online["weights"], online["watch"])
    if online["kind"] == "walk":
        return WalkDecider(online["seed"], online["stay"])
    if online["kind"] == "eager":
        return Eager()
    raise ValueError(f"no strategy {online['kind']!r} decides while running")
