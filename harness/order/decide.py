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
    alone      no earlier test is needed; ``imported`` nor need one be run: it is enough that its file is imported
    why        what the arms showed, a sentence each
    """

    kind: str
    gc: str = "auto"
    signature: str = ""
    needs: bool = False
    alone: bool = False
    imported: bool = False
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
        if not failed and (first := asks.failed_at_first()):
            then = (f"it failed when the command was run, and passed alone and after the {n} before it",)
            return _import(asks, first, then) or _order_or_collector(asks, first, False, then)
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
    if asks.collector:
        off = asks.often(((), "off"))[0]
        if steady(off) and off[0].outcome == "passed" and (found := _within(asks, (), signature)):
            return _with_collections(asks, *found, (said, "without a collection it passes"))
    if steadily:
        return Cause("none", signature=signature, why=(said,))
    raise _undecided(asks, said)


def _import(asks: Asks, signature: str, said: tuple[str, ...]) -> Cause | None:
    """Files that are collected behind the test are imported before it, too."""
    if asks.files() and asks.asking("auto", signature, imported=True)([asks.files()])[0]:
        return Cause("order", signature=signature, imported=True, why=(*said, "it fails when all files are imported, and no test before it is run"))
    return None


def _not_so_far(asks: Asks, word: str, n: int) -> Cause:
    """It does not fail as it is run; it may when garbage is collected at another time."""
    said = f"it does not fail: alone and after all {n} it {word}"
    if not asks.collector:
        return Cause("none", why=(said,))
    if found := _within(asks, asks.everything):
        return _with_collections(asks, *found, (said,))
    modes = "off", "between"
    for gc, result in zip(modes, asks.once(*((asks.everything, gc) for gc in modes)), strict=True):
        if result.failed:
            return _with_collections(asks, gc, result.signature, (said,))
    return Cause("none", why=(said, "nor with garbage collected at a place of it, never, or after each test", *asks.limits))


def _order_or_collector(asks: Asks, signature: str, is_steady: bool, said: tuple[str, ...]) -> Cause:
    if not asks.collector:
        if is_steady:
            return Cause("order", signature=signature, why=said)
        raise _undecided(asks, "; ".join(said))
    off, between = asks.once((asks.everything, "off"), (asks.everything, "between"))
    same = [result.signature == signature for result in (off, between)]
    if all(same) and is_steady:
        return Cause("order", signature=signature, why=(*said, "garbage plays no part: never collected, or after each test, it fails the same"))
    if same[0] and not same[1]:
        return _with_collections(asks, "off", signature, (*said, "with garbage collected after each test it passes"))
    if not same[0]:
        said = *said, f"without a collection it {off.word}"
        if found := _within(asks, asks.everything, signature):
            return _with_collections(asks, *found, said)
        if same[1]:
            return _with_collections(asks, "between", signature, said)
        if is_steady:
            why = *said, *asks.limits, "no single collection in it makes it fail: the list rests on Python's own counts"
            return Cause("GC timing", "auto", signature, why=why)
    raise _undecided(asks, "; ".join(said))


def _undecided(asks: Asks, said: str) -> CannotTest:
    hint = "; with --jobs 1 runs can't disturb each other" * (asks.runs.jobs > 1)
    return CannotTest(f"{asks.name(asks.target)}: not deterministic: {said}, and no control of the collector decides it{hint}")


def _within(asks: Asks, before: Sequence[int], signature: str = "") -> tuple[str, str] | None:
    """(when, signature) of a collection in the test, at its start or one place alone, that makes it fail; so, if one is given."""
    start = asks.once((before, "start"))[0]
    if start.failed and signature in ("", start.signature):
        return "start", start.signature
    scout = asks.once((before, "scout"))[0]
    if scout.by or scout.outcome in ("hang", "crash"):
        asks.limits.append(f"not every place in it was tried: {scout.word}")
    places = [(at, said) for _, at, said in scout.scouted if said != scout.signature and signature in ("", said)]
    firsts = {said: (at, said) for at, said in reversed(places)}  # one of each failure, before more of the same
    places = list(dict.fromkeys([*sorted(firsts.values(), key=places.index), *places]))
    if len(places) > _MOST:
        asks.limits.append(f"{len(places) - _MOST} more places where a fork failed were not tried")
    for at, said in places[:_MOST]:
        if asks.once((before, f"at={at}"))[0].signature == said:
            return f"at={at}", said
    return None


def _with_collections(asks: Asks, gc: str, signature: str, said: tuple[str, ...]) -> Cause:
    """Raises CannotTest where runs of the same differ: then the collector is not what decides it."""
    whole, alone = asks.often((asks.everything, gc), ((), gc))
    so = f"with garbage {when(gc)} it fails"
    if first_failure(alone) == signature and steady(alone):
        return Cause("GC timing", gc, signature, alone=True, why=(*said, so, "also alone"))
    if first_failure(whole) != signature or not steady(whole) or any(result.signature == signature for result in alone):
        raise _undecided(asks, "; ".join((*said, f"{so} in {_count(whole)}, alone in {_count(alone)}")))
    return Cause("order and GC", gc, signature, why=(*said, so))


def when(gc: str) -> str:
    """In words."""
    names = {"start": "collected at its start", "between": "collected after each test", "off": "never collected"}
    return names.get(gc) or f"collected at {gc[3:]}"
