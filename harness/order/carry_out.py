"""From the user's command to the finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.errors import CannotTest

from .asks import Asks
from .command import Command, shown
from .decide import Cause, decide, when
from .finding import Finding
from .log import Log
from .runs import Runs, Tell
from .search import needed_order, shortest
from .trial import Collected, Result, Trial


def carry_out(command: Command, log: Log, *, test: str, repeats: int, jobs: int, seconds: float, tell: Tell, collector: bool = True) -> Finding:
    """Whatever ends it, the log has all runs that were made.

    Raises UserError for a mistake in the command; CannotTest where runs of the same differ.
    """
    runs = Runs(command, log, jobs=jobs, seconds=seconds, tell=tell)
    try:
        about = runs.collect(test)
        names = [name for name, _ in about.tests]

        def asks(name: str) -> Asks:
            return Asks(runs, names.index(name), repeats, collector)

        if about.target:
            return _about(asks(about.target), about, ())
        return _search_all(runs, about, asks, collector)
    finally:
        runs.close()


def _search_all(runs: Runs, about: Collected, asks: Callable[[str], Asks], collector: bool) -> Finding:
    """The first failing test that passes alone."""
    for name, _, _ in about.failing:
        asked = asks(name)
        if not asked.once(((), "auto"))[0].failed:
            also = tuple(f"{other}: {said}" for other, said, _ in about.failing if other != name)
            return _about(asked, about, also)
    without = tuple(f"{name} ({how})" for name, how in about.without.items())
    count = len(about.tests)
    if about.failing:
        says = f"{len(about.failing)} of {count} tests fail, and each of them alone too"
        failing = tuple(f"{name}: {said}" for name, said, _ in about.failing)
        return Finding("none", says, also=failing, without=without, runs=len(runs.log.results) + 1)
    says, limits = f"none of {count} tests fails", ""
    if collector:
        scouts = runs.results([Trial(count - 1, tuple(range(count - 1)), "scouts")])[0]
        if found := _scouted(scouts, about, asks):
            return found
        if scouts.by or scouts.outcome in ("hang", "crash"):
            limits = f"not every place in every test was tried: {scouts.word}"
        says += ", nor when garbage is collected within it, or not at all"
    return Finding("none", says, evidence=(limits,) * bool(limits), without=without, runs=len(runs.log.results) + 1)


def _scouted(scouts: Result, about: Collected, asks: Callable[[str], Asks]) -> Finding | None:
    """All pass. Does one fail when garbage, its own or what others left, is collected at a line of it, or stays?"""
    for name in dict.fromkeys(test for test, _, _ in scouts.scouted):
        found = _about(asks(name), about, ())
        if found.found:
            return found
    return None


def _about(asks: Asks, about: Collected, also: tuple[str, ...]) -> Finding:
    cause = decide(asks)
    test = asks.name(asks.target)
    without = tuple(f"{name} ({how})" for name, how in asks.without.items())
    if cause.kind == "none":
        head = f"{test}: {cause.why[0]}"
        return Finding("none", head, test, asks.target, signature=cause.signature, evidence=cause.why[1:], also=also, without=without, runs=_ran(asks))
    gc = cause.gc
    before: tuple[int, ...] = ()
    ordered: Sequence[tuple[int, int]] = ()
    if not cause.alone:
        ask = asks.asking(gc, cause.signature, cause.needs, cause.imported)
        before = shortest(asks.files() if cause.imported else asks.everything, ask, asks.runs.jobs)
        ordered = [] if cause.imported else needed_order(before, ask)
    evidence = [*cause.why, *_controls(asks, cause, before, gc)]
    argv, plain, verified = _command(asks, cause, before, gc, about)
    named = tuple(asks.name(i) for i in before)
    says = _says(test, named, cause)
    message = next((r.message for r in asks.runs.log.results.values() if r.signature == cause.signature and r.message), "")
    return Finding(
        cause.kind, says, test, asks.target, cause.needs, cause.signature, message, named,
        tuple((asks.name(a), asks.name(b)) for a, b in ordered), gc, shown(argv), plain, verified, asks.repeats,
        tuple(evidence), tuple(f"{said} (after {len(lists)} lists)" for said, lists in asks.others.items()), also, without, _ran(asks),
    )  # fmt: skip


def _ran(asks: Asks) -> int:
    """In all, also before an interruption; the first one collected."""
    return len(asks.runs.log.results) + 1


def _controls(asks: Asks, cause: Cause, before: tuple[int, ...], gc: str) -> list[str]:
    """The shortest list once more: only imported, or with the collector otherwise."""
    if cause.kind == "order" and not (cause.needs or cause.imported):
        trial = Trial(asks.target, before, imported=True)
        if asks.other_files(before) and asks.runs.results([trial])[0].signature == cause.signature:
            files = dict.fromkeys(asks.name(i).partition("::")[0] for i in before)
            return [f"it is enough that {' and '.join(files)} is imported: then it fails with no test before it"]
        return []
    if cause.kind != "order and GC":
        return []
    arms = {"never collected": "off", "collected after each test": "between"}
    if gc.startswith(("start", "at=")):
        arms["out of the collector's sight when the test begins"] = f"{gc},frozen"
    results = asks.once(*((before, mode) for mode in arms.values()))
    return [
        f"the garbage {how}: {'fails' if result.signature == cause.signature else result.word}"
        for how, result in zip(arms, results, strict=True)
    ]


def _command(asks: Asks, cause: Cause, before: tuple[int, ...], gc: str, about: Collected) -> tuple[tuple[str, ...], bool, int]:
    """(the command, whether it is without the plugin, how many of its runs were so); as it is printed, run before it is.

    Empty where none does the same, though the list does. Raises CannotTest where the list does not, run again.
    """
    order = (asks.target, *before) if cause.imported else (*before, asks.target)
    tests = [asks.name(i) for i in order]
    command = asks.runs.command
    forms = [] if gc != "auto" else [(command.shortest(tests, about), True)]
    forms.append((command.shortest(tests, about, gc * (gc != "auto"), ordered=True), False))
    for argv, plain in forms:
        trials = [Trial(asks.target, before, gc, n, command=argv) for n in range(asks.repeats)]
        results = asks.runs.results(trials)
        if all(_same(cause, result) and list(result.ran) == tests for result in results):
            return argv, plain, len(results)
    again = asks.runs.results([Trial(asks.target, before, gc, n + 1, cause.imported) for n in range(asks.repeats)])
    if not all(_same(cause, result) for result in again):
        raise CannotTest(f"{asks.name(asks.target)}: not deterministic: after {len(before)} tests it failed in the search, and not when that was run again")
    return (), False, 0


def _same(cause: Cause, result: Result) -> bool:
    return result.outcome == "passed" if cause.needs else result.signature == cause.signature


def _says(test: str, before: tuple[str, ...], cause: Cause) -> str:
    after = before[0] if len(before) == 1 else f"{len(before)} tests"
    if cause.imported:
        return f"{test} fails when {' and '.join(each.partition('::')[0] for each in before)} is imported, and passes alone"
    if cause.needs:
        return f"{test} passes after {after}, and fails alone"
    if cause.kind == "order":
        return f"{test} fails after {after}, and passes alone"
    if cause.kind == "GC timing":
        return f"{test} fails with garbage {when(cause.gc)}, whatever ran before" if cause.alone else f"{test} fails by when Python collects garbage"
    where = f" (at {cause.gc[3:]})" * cause.gc.startswith("at=")
    whose = f"the garbage of {after}"
    what = {"off": f"{whose} is still there in {test}", "between": f"{whose} is collected before {test}"}
    return what.get(cause.gc, f"{whose} is collected in {test}{where}")
