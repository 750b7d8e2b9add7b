"""Which fix `auto` stands for: the cheapest that `harness check` found to hold, with the torch at hand.

`verdicts/RELEASE.json` is a list of what this prints, for each scenario of the flag and patcher families (`docs/fixes.md`):

    harness check SCENARIO --fix none --fix FIX... --torch RELEASE --json

Scenarios that do not fail there do not count. A release that was not judged has the verdict of the newest judged one before it, or of the oldest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dflash.errors import UserError

VERDICTS = Path(__file__).parent / "verdicts"
#: In order of what they cost a warm call.
CANDIDATES = ("thread_local_fx", "function_patch", "call_lock", "trace_lock")


@dataclass(frozen=True)
class Held:
    """A fix that held in all of `scenarios` (how many) on torch `release`, over `schedules` under it."""

    fix: str
    release: str
    scenarios: int
    schedules: int

    def __str__(self) -> str:
        return f"{self.fix} (holds in {self.scenarios} scenarios on torch {self.release}, {self.schedules} schedules)"


def held(torch: str, folder: Path = VERDICTS) -> Held:
    """Raises UserError where no fix is known to hold."""
    files = sorted(folder.glob("*.json"), key=lambda path: _order(path.stem))
    if not files:
        raise UserError(f"pipeline.fix: no verdicts in {folder}; name a fix, or none")
    before = [path for path in files if _order(path.stem) <= _order(torch)]
    nearest = before[-1] if before else files[0]
    cases: list[dict[str, Any]] = json.loads(nearest.read_text())
    cases = [case for case in cases if case["control"]["failing"]]  # where nothing fails nothing is to be fixed
    for fix in CANDIDATES:
        rows = [next((row for row in case["rows"] if row["fix"] == fix), None) for case in cases]
        if rows and all(row is not None and row["verdict"] == "holds" for row in rows):
            return Held(fix, nearest.stem, len(rows), sum(row["schedules"] for row in rows if row is not None))
    raise UserError(
        f"pipeline.fix: no fix is known to hold on torch {nearest.stem} ({torch} is installed): "
        'name one, or none, or set pipeline.mode = "processes"'
    )


def _order(release: str) -> tuple[int, ...]:
    """Of a final, nightly or local version, by its numbers: 2.15.0.dev20261101+cpu is 2.15.0."""
    return tuple(int(part) for part in release.partition("+")[0].split(".")[:3] if part.isdigit())
