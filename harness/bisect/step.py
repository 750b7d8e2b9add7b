"""What one release showed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: The failure is there; it is not; it can't be said. Only the first two decide anything.
RESULTS = ("present", "absent", "skip")


@dataclass(frozen=True)
class Step:
    """torch       the release; ``build`` as it calls itself (2.15.0+cu132), ``git`` the commit it was built from
    result      one of ``RESULTS``
    why         on what that rests, in words
    signature   of the failure, where it is present; ``outcome`` and ``message`` likewise
    token       the smallest schedule that fails there
    times       runs of that schedule (or of the script), ``failed`` of them failing, ``same`` with one digest
    others      signatures of other failures that the search met: none of them counts
    """

    torch: str
    result: str
    why: str
    build: str = ""
    git: str = ""
    outcome: str = ""
    signature: str = ""
    message: str = ""
    token: str = ""
    times: int = 0
    failed: int = 0
    same: int = 0
    schedules: int = 0
    others: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def word(self) -> str:
        """``other``: absent, and something else fails in its place."""
        return "other" if self.result == "absent" and self.others else self.result

    @property
    def steady(self) -> bool:
        """All runs of one schedule were one and the same."""
        return self.failed in (0, self.times) and self.same in (0, self.times)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "others": list(self.others)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Step:
        """Raises TypeError, KeyError or ValueError where ``data`` is not what :meth:`to_json` makes."""
        made = cls(**{**data, "others": tuple(data["others"])})
        if made.result not in RESULTS:
            raise ValueError(f"result {made.result!r}: one of {', '.join(RESULTS)}")
        return made
