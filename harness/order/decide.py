"""Is it the order, the collector's timing, or both? Two arms differ in one thing: the tests before, or when garbage goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import CannotTest

from .asks import Asks, first_failure, steady
from .search import boundary

#: Where garbage of earlier tests can meet the last one. The first in which it fails is the one that is shown.
_WITHIN = ("start", "during")


@dataclass(frozen=True)
class Cause:
    """kind       as a finding's
    gc         under which the shortest list is looked for
    signature  of the failure; ``needs`` a test that passes after others, and fails alone
    alone      no earlier test is needed
    why        what the arms showed, a sentence each
    """

    kind: str
    gc: str = "auto"
    signature: str = ""
    needs: bool = False
    alone: bool = False
    why: tuple[str, ...] = ()


def decide(asks: Asks) -> Cause:
    """Raises CannotTest where runs of the same differ, and no control of the collector makes them alike."""
    alone = asks.often(((), "auto"))[0]
    whole = asks.all_reaching()
    n = len(asks.everything)
    for results, what in ((alone, "alone"), (whole, f"after {n} tests")):
        if results[0].outcome in ("absent", "not reached"):
            raise CannotTest(f"{asks.name(asks.target)}, {what}: {results[0].word}")
    failed = first_failure(whole)
    if not steady(alone):
        return _by_itself(asks, first_failure(alone), f"alone, it failed in {_count(alone)}")
    if not alone[0].failed:
        if not failed:
            return _not_so_far(asks, alone[0].word, n)
        said = f"alone it {alone[0].word} in {_count(alone, False)}", f"after all {n} it failed in {_count(whole)}"
        return _order_or_collector(asks, failed, steady(whole), said)
    if not failed and steady(whole) and whole[0].outcome == "passed" and n:
        why = f"alone it failed in {_count(alone)}", f"after all {n} it passed in {len(whole)} of {len(whole)} runs"
        return Cause("order", signature=alone[0].signature, needs=True, why=why)
    also = "and after all others too" if failed == alone[0].signature else f"and after all others in another way: {failed or whole[0].word}"
    return _by_itself(asks, alone[0].signature, f"it fails alone, in {_count(alone)}, {also}", steadily=True)


def _count(results: Sequence[object], failed: bool = True) -> str:
    these = sum(getattr(result, "failed", False) == failed for result in results)
    return f"{these} of {len(results)} runs"


def _by_itself(asks: Asks, signature: str, said: str, steadily: bool = False) -> Cause:
    """It fails alone, always or at times: only the collector may still be the cause."""
    off = asks.often(((), "off"))[0]
    if steady(off) and off[0].outcome == "passed":
        for gc in _WITHIN:
            within = asks.often(((), gc))[0]
            if steady(within) and within[0].signature == signature:
                why = said, "without a collection it passes", f"with collections {_when(gc)} it fails"
                return Cause("GC timing", gc, signature, alone=True, why=why)
    if steadily:
        return Cause("none", signature=signature, why=(said,))
    raise CannotTest(f"{asks.name(asks.target)}: not deterministic: {said}, and no control of the collector decides it")


def _not_so_far(asks: Asks, word: str, n: int) -> Cause:
    """It does not fail as it is run; it may when garbage is collected at another time."""
    said = f"it does not fail: alone and after all {n} it {word}"
    for modes in (_WITHIN, ("off", "between")):
        results = asks.once(*((asks.everything, gc) for gc in modes))
        for gc, result in zip(modes, results, strict=True):
            if result.failed:
                return _with_collections(asks, gc, result.signature, (said,))
    return Cause("none", why=(said, "nor with garbage collected at its start, within it, never, or after each test"))


def _order_or_collector(asks: Asks, signature: str, is_steady: bool, said: tuple[str, ...]) -> Cause:
    off, between = asks.once((asks.everything, "off"), (asks.everything, "between"))
    same = [result.signature == signature for result in (off, between)]
    if all(same) and is_steady:
        return Cause("order", signature=signature, why=(*said, "garbage plays no part: never collected, or after each test, it fails the same"))
    if same[0] and not same[1]:
        return Cause("order and GC", "off", signature, why=(*said, "with garbage collected after each test it passes"))
    if not same[0]:
        for gc in (*_WITHIN, "each"):
            if asks.once((asks.everything, gc))[0].signature == signature:
                return _with_collections(asks, gc, signature, (*said, f"without a collection it {off.word}"))
        if same[1]:
            return Cause("order and GC", "between", signature, why=(*said, f"without a collection it {off.word}"))
        if is_steady:
            why = *said, f"without a collection it {off.word}", "no collection at a stated place makes it fail: the list below rests on the collector's own counts"
            return Cause("GC timing", "auto", signature, why=why)
    raise CannotTest(f"{asks.name(asks.target)}: not deterministic: {'; '.join(said)}, and no control of the collector decides it")


def _with_collections(asks: Asks, gc: str, signature: str, said: tuple[str, ...]) -> Cause:
    alone = asks.once(((), gc))[0]
    why = *said, f"with garbage {'never ' * (gc == 'off')}collected{(' ' + _when(gc)) * (gc != 'off')} it fails"
    if alone.signature == signature:
        return Cause("GC timing", gc, signature, alone=True, why=(*why, "also alone"))
    return Cause("order and GC", gc, signature, why=why)


def _when(gc: str) -> str:
    names = {"start": "at its start", "during": "within it", "between": "after each test", "each": "within each test"}
    return names.get(gc.partition(":")[0], gc)


def place(asks: Asks, before: Sequence[int], signature: str) -> tuple[str, str]:
    """(mode with one collection alone, where it is); ``("during", "")`` where it takes more than one.

    Raises CannotTest where the test fails for being looked at: with no collection at all.
    """
    count = asks.once((before, "during"))[0].places

    def fails(places: Sequence[int]) -> list[bool]:
        return [r.signature == signature for r in asks.once(*((before, f"during:<{n}") for n in places))]

    if fails([0])[0]:
        raise CannotTest(f"{asks.name(asks.target)}: it fails when its lines are followed (sys.settrace), without any collection")
    # boundary() wants true before false: it passes with the first n collections, and fails with one more
    last = boundary(0, count, lambda places: [not failed for failed in fails(places)], asks.runs.jobs)
    alone = asks.once((before, f"during:{last}"))[0]
    return (f"during:{last}", alone.at) if alone.signature == signature else ("during", "")
