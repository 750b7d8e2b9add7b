"""One cell: what is asked of one release, and its answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from packaging.version import Version

from harness.kept import key_of

FORMAT = 1


@dataclass(frozen=True)
class Cell:
    """All that decides the answer: two cells that are equal have the same one.

    scenario   its reference, ``digest`` that of its source
    fix        its name, ``fix_digest`` that of its source
    torch      the release, ``python`` that of its environment
    matching   regular expression for the signature of the failure meant; empty: any
    schedule   a token to be replayed; empty: the scenario is searched, ``budget`` schedules at most
    """

    scenario: str
    digest: str
    torch: str
    python: str
    fix: str = "none"
    fix_digest: str = ""
    axes: dict[str, Any] = field(default_factory=dict)
    matching: str = ""
    schedule: str = ""
    budget: int = 2000
    seed: int = 0
    free: bool = False

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> str:
        """32 hexadecimal digits."""
        torch = str(Version(self.torch))
        said = {**asdict(self), "torch": torch, "format": FORMAT}
        return key_of(said)


@dataclass(frozen=True)
class Answer:
    """outcome    of the smallest schedule that fails; ``ok`` by a search that came to its end; ``?`` otherwise
    why        on what that rests
    directives of that schedule, ``token`` the schedule
    others     signatures of failures that were met and not meant
    """

    outcome: str
    why: str
    signature: str = ""
    token: str = ""
    directives: int = 0
    schedules: int = 0
    others: tuple[str, ...] = ()
    build: str = ""
    seconds: float = 0.0

    @property
    def found(self) -> bool:
        return self.outcome not in ("ok", "?")

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "others": list(self.others)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Answer:
        """Raises TypeError or KeyError where ``data`` is not what :meth:`to_json` makes."""
        return cls(**{**data, "others": tuple(data["others"])})
