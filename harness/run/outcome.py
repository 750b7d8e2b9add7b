"""Outcomes and their signatures."""

from __future__ import annotations

import re
import traceback
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.scenario.api import OUTCOMES

#: Kinds of findings; the first that a run has is its outcome (the scenario's declared expectation before all).
ORDER = OUTCOMES
#: The outcomes that are a failure of the program under test.
FAILURES = frozenset(ORDER) - {"not aligned"}


@dataclass(frozen=True)
class Finding:
    """One thing a run showed.

    signature  equal for the same failure in another run, release or schedule: kind of exception, message with its
               numbers, addresses and paths taken out, innermost function of torch (or of the program)
    at         length of the point sequence when it was noticed; the earliest of a kind speaks for it
    """

    kind: str
    signature: str
    message: str
    thread: str = ""
    stack: list[str] = field(default_factory=list)
    at: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def template(message: str) -> str:
    """A message without what differs from run to run."""
    line = message.strip().splitlines()[0] if message.strip() else ""
    line = re.sub(r"0x[0-9a-fA-F]+", "<address>", line)
    line = re.sub(r"(/[\w.+-]+)+/?", "<path>", line)
    return re.sub(r"\d+", "<n>", line)[:160]


def text_of(error: BaseException) -> str:
    """Its message, whatever it does when asked for one; what no text can hold is escaped."""
    try:
        return str(error).encode("utf-8", "backslashreplace").decode()
    except Exception as worse:
        return f"(its __str__ raised {type(worse).__name__})"


def of_error(error: BaseException, thread: str, at: int) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    inner = [f for f in frames if "/torch/" in f.filename.replace("\\", "/")] or [
        f for f in frames if "/harness/" not in f.filename.replace("\\", "/")
    ]
    where = inner[-1].name if inner else "?"
    text = text_of(error)
    kind = "wrong value" if isinstance(error, AssertionError) and thread == "check" else "error"
    return Finding(
        kind,
        f"{type(error).__name__}: {template(text)} [{where}]",
        f"{type(error).__name__}: {text.strip()}"[:2000],
        thread,
        [f"{f.filename}:{f.lineno} {f.name}" for f in frames if "/harness/control/" not in f.filename],
        at,
    )


def outcome(findings: list[Finding], expect: str | None) -> Finding | None:
    """The finding that names the run, None where there is none (``ok``)."""
    order = ([expect] if expect else []) + list(ORDER)
    for kind in order:
        of_kind = [finding for finding in findings if finding.kind == kind]
        if of_kind:
            return min(of_kind, key=lambda finding: finding.at)
    return None
