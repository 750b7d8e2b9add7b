"""What one run told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.control.collect import Collection
from harness.control.frames import Seen
from harness.schedule.schedule import Directive, action_of

from .outcome import FAILURES, Finding, outcome


@dataclass
class Report:
    """outcome    ``ok`` or the kind of the first finding
    log        (thread name, point, place) of every point passed, in order
    switches   what happened as directives, with the length of the log at that moment; forced ones are those that
               the default rule could have made too
    choices    where a thread could not go on and several could: (place in the log, who was chosen, the others)
    instead    threads of C code: the thread that waits for what they do
    void       how many directives found no place (or no thread) to act on
    timed      did a thread wait with a time-out, or sleep?
    unused     directives whose point was never passed
    digest     of the whole point sequence, the switches and the outcome
    pids       of the bodies' processes, where each had its own
    contended  lock points of locks that two threads used
    frames     those that Dynamo's hook was given, where that was asked for (:class:`harness.control.frames.Seen`)
    collections  the directed collections, each with what it ran (:class:`harness.control.collect.Collection`)
    collected_itself  the program made a full collection besides, of its own
    """

    outcome: str = "ok"
    signature: str = ""
    message: str = ""
    findings: list[Finding] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    log: list[tuple[str, str, int]] = field(default_factory=list)
    switches: list[tuple[Directive, bool, int]] = field(default_factory=list)
    choices: list[tuple[int, str, list[str]]] = field(default_factory=list)
    instead: dict[str, str] = field(default_factory=dict)
    void: int = 0
    timed: bool = False
    unused: list[Directive] = field(default_factory=list)
    uncontrolled: list[str] = field(default_factory=list)
    contended: list[str] = field(default_factory=list)
    accesses: list[dict[str, Any]] = field(default_factory=list)
    collections: list[Collection] = field(default_factory=list)
    collected_itself: bool = False
    frames: list[Seen] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)
    digest: str = ""
    seconds: float = 0.0
    rss_mb: float = 0.0

    @property
    def failed(self) -> bool:
        return self.outcome in FAILURES

    @property
    def directives(self) -> tuple[Directive, ...]:
        """The run as a sparse schedule."""
        return tuple(directive for directive, _, _ in self.switches)

    @classmethod
    def from_json(cls, data: dict[str, Any], expect: str | None) -> Report:
        findings = [Finding(**item) for item in data.get("findings", [])]
        names, keys = data.get("threads", []), data.get("keys", [])
        flat = data.get("log", [])
        log = [(names[flat[i]], keys[flat[i + 1]], flat[i + 2]) for i in range(0, len(flat), 3)]
        first = outcome(findings, expect)
        return cls(
            outcome=first.kind if first else "ok",
            signature=first.signature if first else "",
            message=first.message if first else "",
            findings=findings,
            results=data.get("results", []),
            threads=names,
            log=log,
            switches=[(_directive(item), item["forced"], item["at"]) for item in data.get("switches", [])],
            choices=[(at, chosen, others) for at, chosen, others in data.get("choices", [])],
            instead=data.get("instead", {}),
            void=data.get("void", 0),
            timed=data.get("timed", False),
            unused=[_directive(item) for item in data.get("unused", [])],
            uncontrolled=data.get("uncontrolled", []),
            contended=data.get("contended", []),
            accesses=data.get("accesses", []),
            collections=[Collection(**item) for item in data.get("collections", [])],
            collected_itself=data.get("collected_itself", False),
            frames=[Seen(**item) for item in data.get("frames", [])],
            pids=data.get("pids", []),
            digest=data.get("digest", ""),
            seconds=data.get("seconds", 0.0),
            rss_mb=data.get("rss_mb", 0.0),
        )

    def passes(self) -> Iterator[tuple[str, str, int, int]]:
        """(thread, point, how many-eth time, place) in order."""
        counts: dict[tuple[str, str], int] = {}
        for thread, key, place in self.log:
            n = counts[thread, key] = counts.get((thread, key), 0) + 1
            yield thread, key, n, place


def _directive(item: dict[str, Any]) -> Directive:
    return Directive(item["thread"], item["point"], item["n"], action_of(item["action"]))
