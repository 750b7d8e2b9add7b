"""Probes: functions called one after the other when the threads have ended, to see whether the process still works.

A leak may show nowhere else: a warm call, a fresh compile, a call of an eager module (``harness.oracles.torch_probes``).
"""

from __future__ import annotations

from typing import Any

from harness.run.outcome import Finding, of_error
from harness.scenario import Scenario

from .by_value import by_value


def probed(scenario: Scenario, shared: Any, at: int) -> tuple[list[Finding], dict[str, str]]:
    """What raised, and what each of the others returned, by value."""
    findings, told = [], {}
    for probe in scenario.probes:
        name = getattr(probe, "__name__", type(probe).__name__)
        try:
            told[name] = by_value(probe(shared))
        except Exception as error:
            findings.append(of_error(error, f"probe {name}", at))
    return findings, told
