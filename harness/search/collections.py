"""Collections: one at each place, in every start order, and at places of runs with one hand-over.

What is garbage stays garbage. So the first collection of each control is as late as possible: what it doesn't find no
earlier one does, and where it runs none of the program's code, few others are worth a run. (Of a program that collects
itself that says nothing: there all places are tried.) What its finalizers touch
tells where the next ones go first: behind a write of such a state, most of all where the writer will take it back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from harness.control.actions import Collect
from harness.control.collect import Collection
from harness.run.report import Report
from harness.schedule.schedule import Directive, Schedule

from .knowledge import state_of
from .strategy import Ground, Proposal
from .turn import Turn

_BARE = 12  #: collections to try in a run at whose end one runs no code of the program
_FULL = 2
_COMBINED = 0.3  #: of the proposals are collections in runs with a hand-over, while there are both
#: Shares: where nothing else is known; where finalizers pass points; while one would see what others must not.
_USUAL, _MORE, _URGENT = 0.2, 0.5, 1.0
_KINDS = ("read", "write", "lock", "unlock", "marker", "start", "call", "line")


@dataclass
class Spot:
    """A place of a run, named by the last point before it; ``writes``: the states written since the place before;
    ``position``: how many-eth place it is."""

    position: int
    thread: str
    point: str
    n: int
    writes: set[str] = field(default_factory=set)


def spots(report: Report) -> list[Spot]:
    """Every place of a run at which a collection can be asked for, in order."""
    found: list[Spot] = []
    last: dict[str, tuple[int, Spot]] = {}
    for thread, point, n, place in report.passes():
        if point.partition(":")[0] not in _KINDS:
            continue
        held = last.get(thread)
        if held is None or held[0] != place:
            spot = Spot(len(found), thread, point, n)
            found.append(spot)
            last[thread] = place, spot
        else:
            spot = held[1]
            spot.point, spot.n = point, n
        state = state_of(point)
        if state is not None and point.startswith("write:"):
            spot.writes.add(state)
    return found


def _nothing(made: Collection) -> bool:
    """Python counts what it freed itself; since 3.13 not what a finalizer let go of first."""
    return not made.found and not made.ran


@dataclass
class _Base:
    """A schedule without a collection, and where one can be put into it."""

    schedule: Schedule
    left: list[Spot]


class Collections:
    name = "gc"
    share = _USUAL

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._waiting: deque[tuple[Proposal, _Base]] = deque()  # proposed next: the last collection of each base
        self._out: dict[tuple[object, ...], _Base] = {}  # those that have been proposed and not yet been told
        self._again: deque[Proposal] = deque()
        self._open: list[_Base] = []
        self._touched: set[str] = set()  # states that finalizers read or write
        self._switched: list[tuple[Schedule, Report]] = []
        self._any = False  # some collection has run code of the program,
        self._matters = False  # and that code has passed points
        self._seen: set[tuple[object, ...]] = set()
        self._turn = Turn()

    # ---------------------------------------------------------------- what came of runs

    def told(self, proposal: Proposal, report: Report) -> None:
        if proposal.strategy == "control":
            self._probe(proposal.schedule, report)
        elif proposal.strategy == self.name:
            self._learn(proposal, report)
        elif len(report.switches) == 1 and not report.failed and len(self._switched) < 64:
            self._switched.append((proposal.schedule.with_directives(report.directives), report))
        known = self._matters or not self._turn.began
        self.share = _URGENT if self._hot() else _MORE if known else _USUAL

    def _hot(self) -> bool:
        if not self._touched & self.ground.restored:
            return False
        return any(self._rank(spot) == 0 for base in self._open for spot in base.left)

    def _probe(self, schedule: Schedule, report: Report) -> None:
        places = spots(report)
        if places:
            last = places.pop()
            self.ground.random.shuffle(places)
            self._waiting.append((self._with(schedule, last, _FULL), _Base(schedule, places)))

    def _learn(self, proposal: Proposal, report: Report) -> None:
        self._turn.saw(report.digest, mine=True)
        for made in report.collections:
            self._any = self._any or bool(made.ran)
            self._matters = self._matters or made.until > made.at
            for _, point, _ in report.log[made.at : made.until]:
                state = state_of(point)
                if state is not None:
                    self._touched.add(state)
        base = self._out.pop(proposal.key, None)
        if base is not None:
            seen = report.collections
            if seen and not report.collected_itself:
                if _nothing(seen[0]):
                    return  # nothing is garbage at the end: nothing was before
                if not seen[0].ran:
                    del base.left[_BARE:]
            self._open.append(base)
        elif report.collections and _nothing(report.collections[0]):
            self._full_instead(proposal)

    def _full_instead(self, proposal: Proposal) -> None:
        """A young collection found nothing: what there is may be older."""
        *before, last = proposal.schedule.directives
        if isinstance(last.action, Collect) and last.action.generation < _FULL:
            full = replace(last, action=Collect(_FULL))
            self._again.append(Proposal(proposal.schedule.with_directives((*before, full)), self.name))

    # ---------------------------------------------------------------- what to run next

    def next(self) -> Proposal | None:
        while (proposal := self._one()) is not None:
            if proposal.key not in self._seen:
                self._seen.add(proposal.key)
                return proposal
        return None

    def _one(self) -> Proposal | None:
        random, hot = self.ground.random, self._hot()
        if self._waiting and not hot:
            proposal, base = self._waiting.popleft()
            self._out[proposal.key] = base
            return proposal
        if self._again:
            return self._again.popleft()
        combined = self._combined() if not hot and random.random() < _COMBINED else None
        if combined is not None:
            return combined
        left = [base for base in self._open if base.left]
        if left:
            random.shuffle(left)
            base = min(left, key=lambda base: min(map(self._rank, base.left)))
            return self._with(base.schedule, self._pick(base.left), self._generation())
        return self._combined()

    def _combined(self) -> Proposal | None:
        """A collection in a run with one hand-over."""
        if not self._any or not self._switched or self._turn.over:
            return None
        schedule, report = self.ground.random.choice(self._switched)
        places = spots(report)
        self._turn.proposed()
        self.ground.random.shuffle(places)
        return self._with(schedule, self._pick(places), self._generation()) if places else None

    def _rank(self, spot: Spot) -> int:
        touched = spot.writes & self._touched
        return 2 if not touched else 0 if touched & self.ground.restored else 1

    def _pick(self, places: list[Spot]) -> Spot:
        """Takes one out, of the best the first to come where a state will be taken back, else any."""
        ranks = [self._rank(spot) for spot in places]
        least = min(ranks)
        best = [spot for spot, rank in zip(places, ranks, strict=True) if rank == least]
        spot = min(best, key=lambda spot: spot.position) if least == 0 else best[0]
        places.remove(spot)
        return spot

    def _generation(self) -> int:
        return self.ground.random.choice((0, 1, 2, 2))

    def _with(self, schedule: Schedule, spot: Spot, generation: int) -> Proposal:
        directive = Directive(spot.thread, spot.point, spot.n, Collect(generation))
        return Proposal(schedule.with_directives((*schedule.directives, directive)), self.name)
