"""What the plugin told, made into results."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .signature import signature
from .trial import Result

HANG = "no end"  # in place of an exit status


class Events:
    """facts   what was said once: the last of each name
    became  of every test that was started, in order: outcome, signature, message
    scouted  (test, place, signature) of failures after a collection at that place alone, in a fork
    """

    def __init__(self, text: str, status: int | str) -> None:
        self.facts: dict[str, Any] = {}
        self.became: dict[str, tuple[str, str, str]] = {}
        self.uncollected: list[str] = []
        self.scouted: dict[tuple[str, str], str] = {}
        self.status = status
        self._open: str | None = None
        for line in text[: text.rfind("\n") + 1].splitlines():
            self._event(json.loads(line))
        self._ended()

    def _event(self, event: dict[str, Any]) -> None:
        if "scout" in event:
            self._scout(event)
        elif "start" in event:
            self._open = event["start"]
            self.became[self._open] = ("not run", "", "")
        elif "end" in event:
            self._open = None
        elif "report" in event:
            self._report(event)
        elif "uncollected" in event:
            self.uncollected.append(f"{event['uncollected']}: {event['message']}")
        elif "stopped" in event and self.became:
            test = next(reversed(self.became))
            if self.became[test][0] == "not run":
                self.became[test] = ("failed", f"stopped by {event['stopped']}", event["stopped"])
            self.facts.update(event)
        else:
            self.facts.update(event)

    def _scout(self, event: dict[str, Any]) -> None:
        key = self._open or "", event["scout"]
        if "died" in event:
            status = event["died"]
            self.scouted.setdefault(key, _died(-(status & 127) or status >> 8))
        elif event.get("outcome") == "failed":
            self.scouted.setdefault(key, signature(event["kind"], event["message"], event["where"], event["when"]))

    def _report(self, event: dict[str, Any]) -> None:
        test = self._open
        if test is None or self.became[test][0] == "failed":
            return
        if event["outcome"] == "failed":
            said = signature(event["kind"], event["message"], event["where"], event["when"])
            self.became[test] = ("failed", said, f"{event['kind']}: {event['message']}".strip(": "))
        elif event["outcome"] in ("passed", "skipped") and self.became[test][0] == "not run":
            self.became[test] = (event["outcome"], "", "")

    def _ended(self) -> None:
        """A test that was begun and not ended took the process with it."""
        if self._open is not None:
            outcome = "hang" if self.status == HANG else "crash"
            said = "hang" if outcome == "hang" else _died(self.status)
            self.became[self._open] = (outcome, said, said)

    @property
    def stopped_in(self) -> tuple[str, str] | None:
        """(the test in which the run ended early, how)."""
        if self.became and ("finished" not in self.facts or "stopped" in self.facts):
            test = next(reversed(self.became))
            return test, self.became[test][1] or str(self.facts.get("stopped", "")) or ending(self.status)
        return None

    def failing(self) -> Iterable[tuple[str, str, str]]:
        for test, (outcome, said, message) in self.became.items():
            if outcome in ("failed", "crash", "hang"):
                yield test, said, message

    def result(self, target: str, seconds: float, *, plain: bool = False, scouts: bool = False) -> Result:
        missing = tuple(self.facts.get("missing", ()))
        outcome, said, message = self.became.get(target, ("not reached", "", ""))
        by = ""
        if outcome == "not run":
            outcome = "passed"  # nothing but its set-up and tear-down was told, and both are told when they fail
        if outcome == "not reached":
            stopped = self.stopped_in
            outcome = "not reached" if stopped else "absent"
            by = f"{stopped[0]} ({stopped[1]})" if stopped else ""
        ran = tuple(self.became) if plain else ()
        scouted = tuple((test, place, how) for (test, place), how in self.scouted.items())
        if scouts:  # those that fail with no collection at all
            scouted = (*((test, "", how) for test, how, _ in self.failing()), *scouted)
        return Result(outcome, said, message[:2000], by, missing, ran, scouted, round(seconds, 2))


def _died(status: int | str) -> str:
    return f"the process ended: {ending(status)}"


def ending(status: int | str) -> str:
    if isinstance(status, int) and status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    return f"status {status}"


def last_line(output: Path) -> str:
    """Of what a pytest said that said nothing else."""
    lines = output.read_text(errors="replace").strip().splitlines() if output.exists() else []
    errors = [line for line in lines if ": error: " in line] or [line for line in lines if line.startswith(("ERROR", "E "))]
    return (errors or lines or [""])[-1].strip()
