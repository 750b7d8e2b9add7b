"""Verdicts on fixes: ``holds``, ``fails``, ``masks``, ``untested``, each with its control arm."""

from .judge import Control, Verdict, control_arm, judge

__all__ = ["Control", "Verdict", "control_arm", "judge"]
