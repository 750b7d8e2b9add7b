"""What is asked: fixed from the first step to the last, and kept at the head of the log."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Question:
    """target    a scenario's reference, a token, or a script
    kind      scenario, token or script
    releases  in the order of PEP 440; the first and the last are the two ends
    left_out  releases between the ends that are not tested, each with why
    python    of every environment, as ``3.11``
    matching  regular expression for the signature of the failure that is meant; empty: the first that an end shows
    budget    schedules at most in the search on one release
    times     runs of one schedule, or of the script, on one release
    digest    of the scenario's source
    cached     only releases at hand were asked about: what lies between two of them is not known
    source, index  where environments come from, as ``harness env add`` has it
    """

    target: str
    kind: str
    releases: tuple[str, ...]
    python: str
    left_out: dict[str, str] = field(default_factory=dict)
    threads: int | None = None
    axes: dict[str, Any] = field(default_factory=dict)
    free: bool = False
    matching: str = ""
    budget: int = 2000
    seed: int = 0
    times: int = 3
    digest: str = ""
    cached: bool = False
    source: str = "auto"
    index: str = ""

    @property
    def old(self) -> str:
        return self.releases[0]

    @property
    def new(self) -> str:
        return self.releases[-1]

    @property
    def key(self) -> str:
        """16 hexadecimal digits; equal for the same question. What only says where environments come from, or what lies
        between the ends, is no part of it: that may differ when a bisect goes on."""
        said = asdict(self)
        for name in ("source", "index", "left_out", "releases"):
            del said[name]
        return hashlib.sha256(json.dumps([said, self.old, self.new], sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "releases": list(self.releases)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Question:
        """Raises TypeError, KeyError or ValueError where ``data`` is not what :meth:`to_json` makes."""
        made = cls(**{**data, "releases": tuple(data["releases"])})
        if made.kind not in ("scenario", "token", "script") or len(made.releases) < 2:
            raise ValueError("no question of a bisect")
        return made
