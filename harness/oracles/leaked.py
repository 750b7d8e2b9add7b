"""State that code saves and restores must be afterwards what it was before; by value."""

from __future__ import annotations

from harness.run.outcome import Finding


def leaks(before: dict[str, str], after: dict[str, str], at: int) -> list[Finding]:
    """``before`` and ``after``: state -> its value in words (:func:`harness.states.values.snapshot`)."""
    changed = [name for name in before if before[name] != after[name]]
    if not changed:
        return []
    return [
        Finding(
            "state leaked",
            "state leaked: " + ", ".join(changed),
            "; ".join(f"{name} was {before[name]}, is {after[name]}" for name in changed),
            at=at,
        )
    ]
