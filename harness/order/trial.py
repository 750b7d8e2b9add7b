"""One run of the user's pytest: which tests before the one that is looked at, and when garbage is collected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

#: What can become of a test in a run. ``not reached``: the run ended in a test before it; ``absent``: not collected.
OUTCOMES = ("passed", "failed", "skipped", "crash", "hang", "not reached", "absent")
_RANGES = re.compile(r"(\d+(-\d+)?(,\d+(-\d+)?)*)?")


@dataclass(frozen=True)
class Trial:
    """target   its number in the order in which pytest collected
    before   numbers of the tests before it, in the order in which they run
    gc       when garbage is collected (harness/order/inside/switchpoint_gc.py)
    attempt  counts runs of the same
    imported  the files of those before are collected, and none of their tests is run
    command  where it is not empty: what a user would paste, run as it stands
    """

    target: int
    before: tuple[int, ...]
    gc: str = "auto"
    attempt: int = 0
    imported: bool = False
    command: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "before": ranges(self.before), "command": list(self.command)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Trial:
        """Raises TypeError, KeyError or ValueError where ``data`` is not what :meth:`to_json` makes."""
        return cls(**{**data, "before": numbers(data["before"]), "command": tuple(data["command"])})


@dataclass(frozen=True)
class Result:
    """outcome    of the target, one of ``OUTCOMES``
    signature  of its failure, the same for the same failure in another run; ``message`` in full
    by         the test in which the run ended before the target was reached, and how
    missing    tests that were asked for and not collected
    ran        the tests that were run, in order; kept only of a command that was run as it stands
    scouted    (test, place, signature) of what failed with a collection at that place alone, or with none where
               it is empty; to be shown by a run of its own
    """

    outcome: str
    signature: str = ""
    message: str = ""
    by: str = ""
    missing: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    scouted: tuple[tuple[str, str, str], ...] = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return self.outcome in ("failed", "crash", "hang")

    @property
    def word(self) -> str:
        """For a line of progress."""
        if self.failed:
            return self.signature
        return f"not reached: {self.by}" if self.by else self.outcome

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Result:
        """Raises TypeError, KeyError or ValueError where ``data`` is not what :meth:`to_json` makes."""
        scouted = tuple((str(test), str(place), str(said)) for test, place, said in data["scouted"])
        made = cls(**{**data, "missing": tuple(data["missing"]), "ran": tuple(data["ran"]), "scouted": scouted})
        if made.outcome not in OUTCOMES:
            raise ValueError(f"outcome {made.outcome!r}: one of {', '.join(OUTCOMES)}")
        return made


@dataclass(frozen=True)
class Collected:
    """What the user's own command collects, and what became of it when it was run once.

    tests       node ids in the order in which they run, each with its file
    failing     of those that failed: node id, signature, message
    target      the test asked about with ``--test``, empty without
    positional, args  of pytest: its arguments without and with options
    plain       options without which pytest would divide, shuffle or end what it runs
    files       of the program: path to digest
    without     tests that end the process by themselves, each with how
    """

    tests: tuple[tuple[str, str], ...]
    failing: tuple[tuple[str, str, str], ...]
    target: str
    rootdir: str
    python: str
    positional: tuple[str, ...]
    args: tuple[str, ...]
    plain: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Collected:
        """Raises TypeError, KeyError or ValueError where ``data`` is not what :meth:`to_json` makes."""
        lists = {name: tuple(data[name]) for name in ("positional", "args", "plain")}
        tests = tuple((str(key), str(path)) for key, path in data["tests"])
        failing = tuple((str(key), str(said), str(message)) for key, said, message in data["failing"])
        return cls(**{**data, **lists, "tests": tests, "failing": failing})


def ranges(these: Sequence[int]) -> str:
    """``0-41,43``"""
    runs: list[list[int]] = []
    for number in these:
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)


def numbers(text: str) -> tuple[int, ...]:
    """Raises ValueError where it is none that :func:`ranges` makes."""
    if not _RANGES.fullmatch(text):
        raise ValueError(f"{text!r}: numbers of tests, as 0-41,43")
    found: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)
