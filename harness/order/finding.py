"""What was found out about one test, and how it is said."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

#: Nothing depends on anything; it does on earlier tests; on when garbage is collected; on both.
KINDS = ("none", "order", "GC timing", "order and GC")


@dataclass(frozen=True)
class Finding:
    """kind       one of ``KINDS``
    needs      it is the other way round: the test fails alone, and passes after the tests in ``before``
    says       the finding in a sentence
    test       node id; ``number`` of tests before it
    signature, message  of the failure
    before     the shortest list, in the order in which they must run; ``ordered`` pairs of them that must stay so
    gc         when garbage was collected in the runs that show it
    command    what a user pastes, empty where no command does what the list does; ``plain``: any pytest will do, without the plugin; ``verified`` of ``times`` runs of it were so
    evidence   on what that rests, a sentence each
    others     other failures that were met; none of them counts
    also       other tests that failed when all were run
    """

    kind: str
    says: str
    test: str = ""
    number: int = 0
    needs: bool = False
    signature: str = ""
    message: str = ""
    before: tuple[str, ...] = ()
    ordered: tuple[tuple[str, str], ...] = ()
    gc: str = "auto"
    command: str = ""
    plain: bool = True
    verified: int = 0
    times: int = 0
    evidence: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    runs: int = 0

    @property
    def found(self) -> bool:
        return self.kind != "none"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "found": self.found}

    def text(self) -> str:
        """Lines with a head each, as ``harness find`` has them."""
        lines = [self.says, f"{'finding':10}{self.kind}"]
        if self.signature:
            lines.append(f"{'failure':10}{self.signature}")
        if self.before:
            lines.append(f"{'before':10}{len(self.before)} of {self.number} tests" + self._order())
            lines += [f"{'':10}{test}" for test in self.before]
        if self.gc != "auto":
            lines.append(f"{'collector':10}{self.gc}")
        lines += _listed("rests on", self.evidence) + _listed("left out", self.without)
        lines += _listed("others", self.others) + _listed("also", self.also)
        lines.append(f"{'runs':10}{self.runs}")
        if self.command:
            lines.append(f"{'command':10}{self._sure()}")
            lines.append(self.command)
        elif self.found:
            lines.append(f"{'command':10}none that does the same: pytest can't be told these tests by their names (are they the same in each run?)")
        return "\n".join(lines)

    def _order(self) -> str:
        if len(self.before) < 2:
            return ""
        neighbours = set(zip(self.before, self.before[1:], strict=False))
        if neighbours <= set(self.ordered):
            return ", in this order"
        if not self.ordered:
            return ", in any order" if len(self.before) < 4 else ", any two neighbours may change places"
        return "; " + ", ".join(f"{a} before {b}" for a, b in self.ordered)

    def _sure(self) -> str:
        as_said = "passed" if self.needs else "failed in the same way"
        how = "" if self.plain else " (with the project's plugin, which is a file: without it pytest would not do the same)"
        return f"{as_said} in {self.verified} of {self.times} runs{how}"


def _listed(head: str, lines: tuple[str, ...]) -> list[str]:
    return [f"{head if i == 0 else '':10}{line}" for i, line in enumerate(lines)]
