"""What the fixture answers: the result of a search, of a replay, and an explanation."""

from __future__ import annotations

from dataclasses import dataclass

from harness.search.certify import Certificate


@dataclass(frozen=True)
class Hunt:
    """What a search came to.

    token      the smallest schedule that fails, empty where none was found
    schedules  how many were run until then
    rests_on   on what a negative rests; ``rests_on.certain`` is False where a limit ended the search
    others     failures met on the way that were not the one looked for, by signature
    """

    found: bool
    schedules: int
    rests_on: Certificate
    token: str = ""
    outcome: str = "ok"
    signature: str = ""
    directives: int = 0
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replay:
    """times runs of one schedule, failed of them failing, same of them with the digest"""

    times: int
    failed: int
    same: int
    outcome: str
    signature: str
    digest: str


@dataclass(frozen=True)
class Explanation:
    """state is empty where no process-wide state made the difference; depends_on_gc: see :mod:`harness.verdict.on_gc`"""

    state: str
    text: str
    depends_on_gc: bool = False
