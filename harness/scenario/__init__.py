"""Scenarios: what is run."""

from .api import MAX_THREADS, RESERVED, TORCH_MODULES, Axes, Plain, Scenario

__all__ = ["MAX_THREADS", "RESERVED", "TORCH_MODULES", "Axes", "Plain", "Scenario"]
