"""Questions about one test: what becomes of it after these tests, with garbage collected so?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .runs import Runs
from .search import Ask
from .trial import Result, Trial


class Asks:
    """About the test with this number. ``everything``: the tests before it, without those that end the process."""

    def __init__(self, runs: Runs, target: int, repeats: int) -> None:
        self.runs, self.target, self.repeats = runs, target, repeats
        self.everything = tuple(range(target))
        self.others: Counter[str] = Counter()
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

    def asking(self, gc: str, signature: str, passes: bool = False) -> Ask:
        """For a search: the same failure counts, and nothing else; with ``passes``, that it passes."""

        def ask(lists: Sequence[tuple[int, ...]]) -> list[bool]:
            results = self.runs.results([self.trial(before, gc) for before in lists])
            for result in results:
                if result.by or (result.failed and result.signature != signature):
                    self.others[result.word] += 1
            return [result.outcome == "passed" if passes else result.signature == signature for result in results]

        return ask


def steady(results: Sequence[Result]) -> bool:
    return len({(result.outcome, result.signature) for result in results}) == 1


def first_failure(results: Sequence[Result]) -> str:
    """Its signature; empty where none failed."""
    return next((result.signature for result in results if result.failed), "")
