"""Is it the same failure on another release? Its own schedule may be another; what it says must not be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.run.report import Report

_WHERE = re.compile(r" \[[^\]]*\]$")


@dataclass(frozen=True)
class Wanted:
    """outcome, signature  of the failure where it was first seen; ``matching`` a regular expression in their place

    The innermost function of a signature is compared only where there is no message: functions are renamed and split
    between releases, messages rarely are.
    """

    outcome: str = ""
    signature: str = ""
    matching: str = ""

    @property
    def known(self) -> bool:
        return bool(self.outcome or self.matching)

    def __call__(self, report: Report) -> bool:
        """Any failure will do while none is known."""
        if not report.failed:
            return False
        if self.matching:
            return re.search(self.matching, report.signature) is not None
        if not self.outcome:
            return True
        if report.outcome != self.outcome:
            return False
        if self.outcome == "state leaked":
            return _states(self.signature) <= _states(report.signature)
        return _said(report.signature) == _said(self.signature)


def _states(signature: str) -> set[str]:
    return set(signature.partition(": ")[2].split(", "))


def _said(signature: str) -> str:
    said = _WHERE.sub("", signature)
    return said if said.partition(": ")[2].strip() else signature
