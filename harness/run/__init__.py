"""Runs: scenario x fix x schedule in a fresh process, to an outcome."""

from .outcome import ORDER, Finding
from .report import Report

__all__ = ["ORDER", "Finding", "Report"]
