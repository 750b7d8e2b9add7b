"""Is it the order, the collector's timing, or both? Two arms differ in one thing: the tests before, or when garbage goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import CannotTest

from .asks import Asks, first_failure, steady

_MOST = 5  # places that a fork found to make a difference, and that are tried in a run of their own


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
    if steady(off) and off[0].outcome == "passed" and (found := _within(asks, (), signature)):
        why = said, "without a collection it passes", f"with garbage {_when(found[0])} it fails"
        return Cause("GC timing", found[0], signature, alone=True, why=why)
    if steadily:
        return Cause("none", signature=signature, why=(said,))
    raise _undecided(asks, said)


def _not_so_far(asks: Asks, word: str, n: int) -> Cause:
    """It does not fail as it is run; it may when garbage is collected at another time."""
    said = f"it does not fail: alone and after all {n} it {word}"
    if found := _within(asks, asks.everything):
        return _with_collections(asks, *found, (said,))
    modes = "off", "between"
    for gc, result in zip(modes, asks.once(*((asks.everything, gc) for gc in modes)), strict=True):
        if result.failed:
            return _with_collections(asks, gc, result.signature, (said,))
    return Cause("none", why=(said, "nor with garbage collected at a place of it, never, or after each test"))


def _order_or_collector(asks: Asks, signature: str, is_steady: bool, said: tuple[str, ...]) -> Cause:
    off, between = asks.once((asks.everything, "off"), (asks.everything, "between"))
    same = [result.signature == signature for result in (off, between)]
    if all(same) and is_steady:
        return Cause("order", signature=signature, why=(*said, "garbage plays no part: never collected, or after each test, it fails the same"))
    if same[0] and not same[1]:
        return Cause("order and GC", "off", signature, why=(*said, "with garbage collected after each test it passes"))
    if not same[0]:
        said = *said, f"without a collection it {off.word}"
        if found := _within(asks, asks.everything, signature):
            return _with_collections(asks, *found, said)
        if same[1]:
            return Cause("order and GC", "between", signature, why=said)
        if is_steady:
            why = *said, "no single collection in it makes it fail: the list rests on Python's own counts"
            return Cause("GC timing", "auto", signature, why=why)
    raise _undecided(asks, "; ".join(said))


def _undecided(asks: Asks, said: str) -> CannotTest:
    return CannotTest(f"{asks.name(asks.target)}: not deterministic: {said}, and no control of the collector decides it")


def _within(asks: Asks, before: Sequence[int], signature: str = "") -> tuple[str, str] | None:
    """(when, signature) of a collection in the test, at its start or one place alone, that makes it fail; so, if one is given."""
    start = asks.once((before, "start"))[0]
    if start.failed and signature in ("", start.signature):
        return "start", start.signature
    scout = asks.once((before, "scout"))[0]
    places = [(at, said) for _, at, said in scout.scouted if said != scout.signature and signature in ("", said)]
    for at, said in places[:_MOST]:
        if asks.once((before, f"at={at}"))[0].signature == said:
            return f"at={at}", said
    return None


def _with_collections(asks: Asks, gc: str, signature: str, said: tuple[str, ...]) -> Cause:
    alone = asks.once(((), gc))[0]
    why = *said, f"with garbage {_when(gc)} it fails"
    if alone.signature == signature:
        return Cause("GC timing", gc, signature, alone=True, why=(*why, "also alone"))
    return Cause("order and GC", gc, signature, why=why)


def _when(gc: str) -> str:
    names = {"start": "collected at its start", "between": "collected after each test", "off": "never collected"}
    return names.get(gc) or f"collected at {gc[3:]}"
