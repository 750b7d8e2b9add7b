"""Cases that were judged before, and single verdicts of one, so that a table of hours goes on where it was ended.

The answer is another one with another scenario, fix, release or search, and with another harness: all its source counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import harness
from harness import kept
from harness.fixes import Fix
from harness.fixes.registry import source_of
from harness.schedule import Schedule, from_token, to_token

from .case import Case, Judged, releases_at_hand
from .judge import Verdict

_KIND = "verdicts"


def key_of(
    about: dict[str, Any], base: Schedule, fixes: Sequence[Fix], *, budget: int, seed: int, known: Schedule | None = None, part: str = ""
) -> str:
    """``about``: what the launcher says of the scenario."""
    elsewhere = any(fix.elsewhere for fix in fixes) and about["torch"]
    return kept.key_of(
        {
            "harness": _ours(), "scenario": about["digest"], "schedule": to_token(base), "torch": about["torch"],
            "python": about["python"], "fixes": {fix.name: kept.digest(source_of(fix.name)) for fix in fixes},
            "newest": str(max(releases_at_hand())) if elsewhere else "", "search": [budget, seed],
            "known": to_token(known) if known else "", "part": part,
        }
    )  # fmt: skip


@cache
def _ours() -> str:
    files = sorted(Path(harness.__file__).parent.rglob("*.py"))
    return kept.digest(b"".join(file.read_bytes() for file in files))


def recall(key: str, base: Schedule) -> Judged | None:
    data = kept.recall(_KIND, key)
    try:
        return None if data is None else Judged(
            Case(base.scenario, base.axes), data["torch"], data["schedules"], data["failing"], data["rests_on"],
            [_verdict(row) for row in data["rows"]], data["remark"],
        )  # fmt: skip
    except (TypeError, KeyError, ValueError):
        return None


def keep(key: str, found: Judged) -> None:
    """Raises UserError where it can't be written."""
    kept.keep(_KIND, key, {
        "torch": found.torch, "schedules": found.schedules, "failing": found.failing, "rests_on": found.rests_on,
        "rows": [_plain(row) for row in found.rows], "remark": found.remark,
    })  # fmt: skip


def recall_row(key: str) -> Verdict | None:
    """One verdict, by a key that names its fix alone."""
    data = kept.recall(_KIND, key)
    try:
        return None if data is None else _verdict(data["row"])
    except (TypeError, KeyError, ValueError):
        return None


def keep_row(key: str, row: Verdict) -> None:
    kept.keep(_KIND, key, {"row": _plain(row)})


def _plain(row: Verdict) -> dict[str, Any]:
    return {**asdict(row), "failing": to_token(row.failing) if row.failing else ""}


def _verdict(row: dict[str, Any]) -> Verdict:
    return Verdict(**{**row, "failing": from_token(row["failing"]) if row["failing"] else None})
