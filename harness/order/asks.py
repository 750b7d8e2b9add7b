"""Questions about one test: what becomes of it after these tests, with garbage collected so?"""

from __future__ import annotations

from collections.abc import Sequence

from .runs import Runs
from .search import Ask
from .trial import Result, Trial


class Asks:
    """About the test with this number. ``everything``: the tests before it, without those that end the process.

    ``collector``: is the collector looked at too?
    """

    def __init__(self, runs: Runs, target: int, repeats: int, collector: bool = True) -> None:
        self.runs, self.target, self.repeats, self.collector = runs, target, repeats, collector
        self.everything = tuple(range(target))
        self.others: dict[str, set[tuple[int, ...]]] = {}
        self.limits: list[str] = []
        self.without: dict[str, str] = dict(runs.collected.without)

    def name(self, number: int) -> str:
        return self.runs.collected.tests[number][0]

    def trial(self, before: Sequence[int], gc: str = "auto", attempt: int = 0) -> Trial:
        return Trial(self.target, tuple(before), gc, attempt)

    def once(self, *arms: tuple[Sequence[int], str]) -> list[Result]:
        return self.runs.results([self.trial(before, gc) for before, gc in arms])

    def often(self, *arms: tuple[Sequence[int], str]) -> list[list[Result]]:
        """Of each arm all its repeats."""
        trials = [[self.trial(before, gc, n) for n in range(self.repeats)] for before, gc in arms]
        self.runs.results([trial for arm in trials for trial in arm])
        return [self.runs.results(arm) for arm in trials]

    def all_reaching(self) -> list[Result]:
        """After everything, repeated. Tests in which the run ended early are left out of everything, and named."""
        while True:
            results = self.often((self.everything, "auto"))[0]
            ended = {result.by for result in results if result.by}
            if not ended:
                return results
            for by in ended:
                test = next((i for i in self.everything if by.startswith(f"{self.name(i)} (")), None)
                if test is None:
                    return results
                self.without[self.name(test)] = by[len(self.name(test)) + 2 : -1]
                self.everything = tuple(i for i in self.everything if i != test)

    def failed_at_first(self) -> str:
        """The signature of its failure when the command itself was run."""
        return next((said for test, said, _ in self.runs.collected.failing if test == self.name(self.target)), "")

    def other_files(self, these: Sequence[int]) -> list[int]:
        """Those of these tests that are not in the target's file."""
        tests = self.runs.collected.tests
        return [number for number in these if tests[number][1] != tests[self.target][1]]

    def files(self) -> tuple[int, ...]:
        """A test of each other file, those behind this one too."""
        first = {path: number for number, (_, path) in reversed(list(enumerate(self.runs.collected.tests)))}
        return tuple(self.other_files(sorted(first.values())))

    def asking(self, gc: str, signature: str, passes: bool = False, imported: bool = False) -> Ask:
        """For a search: the same failure counts, and nothing else; with ``passes``, that it passes."""

        def ask(lists: Sequence[tuple[int, ...]]) -> list[bool]:
            results = self.runs.results([Trial(self.target, before, gc, imported=imported) for before in lists])
            for before, result in zip(lists, results, strict=True):
                if result.by or (result.failed and result.signature != signature):
                    self.others.setdefault(result.word, set()).add(before)
            return [result.outcome == "passed" if passes else result.signature == signature for result in results]

        return ask


def steady(results: Sequence[Result]) -> bool:
    return len({(result.outcome, result.signature) for result in results}) == 1


def first_failure(results: Sequence[Result]) -> str:
    """Its signature; empty where none failed."""
    return next((result.signature for result in results if result.failed), "")
