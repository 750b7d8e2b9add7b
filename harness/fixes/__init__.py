"""Fixes: named changes that are in force during a run, each usable as a context manager in anyone's program."""

from .registry import Fix, find_fix, fix_names, fix_of_a_run

__all__ = ["Fix", "find_fix", "fix_names", "fix_of_a_run"]
