"""Every strategy finds planted bugs; the exhaustive one is complete, counted by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from support.inline import Inline, cooperative

from harness import marker, thread_index
from harness.errors import UserError
from harness.run.job import Job
from harness.run.report import Report
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.search import STRATEGIES, Exploration, explore
from harness.search.certify import holds, negative
from harness.search.reduce import reduce


class InProcess:
    """A runner in this process: small and quick."""

    jobs = 1
    restored: frozenset[str] = frozenset()
    fewest = bodies = 2

    def __init__(self, inline: Inline, scenario: Scenario) -> None:
        self.inline, self.scenario = inline, scenario
        self.schedules: list[Schedule] = []
        self._reports: dict[int, Report] = {}

    def start(self, job: Job) -> int:
        from harness.run.execute import execute
        from harness.states import Table

        number = len(self.schedules)
        self.schedules.append(job.schedule)
        data = execute(job, self.scenario, Table(), None, None, self.inline.pool.start, wait=True)
        self._reports[number] = Report.from_json(data, self.scenario.expect)
        return number

    def wait(self, number: int) -> Report:
        return self._reports.pop(number)

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Report]]:
        for job in jobs:
            yield job, self.wait(self.start(job))


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    with cooperative(monkeypatch) as made:
        yield made


class Shared:
    def __init__(self) -> None:
        self.log: list[str] = []


def steps(count: int) -> Any:
    def body(shared: Shared) -> None:
        for step in range(count):
            marker(f"{'ab'[thread_index() % 2]}{step}")
            shared.log.append(f"{thread_index()}{step}")

    return body


def scenario(bodies: int, count: int, bad: Any = lambda log: False) -> Scenario:
    def check(shared: Shared, results: list[Any]) -> None:
        assert not bad(shared.log), "the planted order"

    return Scenario([steps(count)] * bodies, setup=lambda axes: Shared(), check=check)


def search(inline: Inline, what: Scenario, **options: Any) -> tuple[Exploration, InProcess]:
    runner = InProcess(inline, what)
    return explore(runner, Schedule("inline", len(what.bodies)), **options), runner


def depth_two(log: list[str]) -> bool:
    """T1 runs whole between T0's first and second step."""
    return log == ["00", "10", "11", "12", "01", "02"]


def depth_three(log: list[str]) -> bool:
    """T1 begins after T0's first step, and T0 goes on after T1's first."""
    return log == ["00", "10", "01", "02", "11", "12"]


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "gc"])
@pytest.mark.parametrize("seed", range(5))
def test_a_bug_of_one_preemption_is_found(inline: Inline, strategy: str, seed: int) -> None:
    found, _ = search(inline, scenario(2, 3, depth_two), strategy=strategy, seed=seed)
    assert found.failures
    assert found.failures[0][1].outcome == "wrong value"


@pytest.mark.parametrize("strategy", ["portfolio", "random", "exhaustive"])
@pytest.mark.parametrize("seed", range(3))
def test_a_bug_of_two_preemptions_is_found(inline: Inline, strategy: str, seed: int) -> None:
    found, _ = search(inline, scenario(2, 3, depth_three), strategy=strategy, seed=seed)
    assert found.failures


@pytest.mark.parametrize(
    "order", [order for order in sorted(set(itertools.permutations("000111"))) if order[0] == "0"]
)
def test_every_order_of_two_preemptions_is_reached(inline: Inline, order: tuple[str, ...]) -> None:
    """Each of the interleavings with at most two changes of a thread that could go on."""
    switches = sum(a != b for a, b in itertools.pairwise(order))
    runs = [len(list(group)) for _, group in itertools.groupby(order)]
    ended = sum(1 for i in range(1, len(runs)) if sum(runs[i - 1 :: -2]) == 3 and i)  # the change was forced
    wanted = "".join(order)
    found, _ = search(
        inline,
        scenario(2, 3, lambda log: "".join(item[0] for item in log) == wanted),
        strategy="exhaustive",
        budget=500,
    )
    assert bool(found.failures) is (switches - ended <= 2)


def test_gc_timing_is_found(inline: Inline) -> None:
    class Loud:
        def __init__(self, log: list[str]) -> None:
            self.me, self.log = self, log

        def __del__(self) -> None:
            self.log.append("del")

    def body(shared: Shared) -> None:
        Loud(shared.log)
        marker("a")
        shared.log.append("body")

    def check(shared: Shared, results: list[Any]) -> None:
        assert shared.log != ["del", "body"], "collected too early"

    what = Scenario([body], setup=lambda axes: Shared(), check=check)
    for strategy in ("gc", "portfolio"):
        found, _ = search(inline, what, strategy=strategy)
        assert found.failures
        assert found.failures[0][0].directives[0].does == "gc2"


def test_the_exhaustive_count_by_hand(inline: Inline) -> None:
    """Two threads, two markers each. Without a preemption: 2 schedules (T0 first, T1 first).

    With one: from T0 first, at a0 or a1 to T1 (2); at T1's markers T0 has ended, and there is nobody to hand over to;
    the same from T1 first (2). In all 2 + 4.
    """
    from random import Random

    from harness.search.exhaustive import Exhaustive
    from harness.search.knowledge import Knowledge
    from harness.search.strategy import Ground, Proposal

    runner = InProcess(inline, scenario(2, 2))
    base = Schedule("inline", 2)
    ground = Ground(base, Knowledge(), Random(0))
    strategy = Exhaustive(ground, bound=1)
    orders = set()

    def run(proposal: Proposal) -> None:
        report = runner.wait(runner.start(Job(proposal.schedule)))
        ground.knowledge.learn(report)
        strategy.told(proposal, report)
        orders.add("".join(str(int(name[1:])) for name, point, _ in report.log if point.startswith("marker")))

    for first in (0, 1):
        run(Proposal(Schedule("inline", 2, first), "control"))
    count = 0
    while (proposal := strategy.next()) is not None:
        run(proposal)
        count += 1
    assert count == 4
    assert strategy.complete() == 1
    # the marker is passed before the hand-over: 0|11|0, 00|11 are 0110, 0011 and their mirrors
    assert orders == {"0011", "1100", "0110", "1001"}


def test_the_search_ends_by_itself_and_certifies(inline: Inline) -> None:
    found, _ = search(inline, scenario(2, 2), budget=10_000)
    assert found.limit == ""
    assert found.schedules < 1000
    assert found.complete == 2
    certificate = negative(found)
    assert certificate.certain, certificate.says
    assert "exhaustive up to 2 preemptions" in certificate.says


def test_a_limit_is_no_certificate(inline: Inline) -> None:
    found, _ = search(inline, scenario(2, 3), budget=5)
    assert found.schedules == 5
    assert found.limit == "5 schedules"
    assert not negative(found).certain
    assert "inconclusive" in negative(found).says
    assert not holds(3, 0, found).certain


def test_no_certificate_without_points(inline: Inline) -> None:
    found, _ = search(inline, Scenario([lambda _: 1, lambda _: 2]))
    assert found.by_strategy == {"walk": 2, "control": 2}
    assert not negative(found).certain
    assert "no point" in negative(found).says


def test_no_certificate_without_exhaustion(inline: Inline) -> None:
    found, _ = search(inline, scenario(2, 2), strategy="pct", budget=10_000)
    assert not negative(found).certain
    assert "pct drew nothing new any more" in negative(found).says


def test_no_certificate_of_a_failing_search(inline: Inline) -> None:
    found, _ = search(inline, scenario(2, 3, depth_two), stop=lambda *_: False, budget=2000)
    assert len(found.failures) >= 1
    assert not negative(found).certain


def test_holds_needs_a_control_arm_that_fails(inline: Inline) -> None:
    found, _ = search(inline, scenario(2, 2), budget=10_000)
    assert not holds(0, 0, found).certain
    assert not holds(5, 1, found).certain
    assert "1 of 5" in holds(5, 1, found).says
    assert holds(5, 0, found).certain


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_seed_is_the_same_search(inline: Inline, strategy: str) -> None:
    _, first = search(inline, scenario(3, 3), strategy=strategy, seed=7, budget=60)
    _, again = search(inline, scenario(3, 3), strategy=strategy, seed=7, budget=60)
    assert first.schedules == again.schedules


def test_another_seed_is_another_search(inline: Inline) -> None:
    searches = [
        search(inline, scenario(3, 3), strategy="random", seed=seed, budget=30)[1].schedules
        for seed in (1, 2)
    ]
    assert searches[0] != searches[1]


def test_an_unknown_strategy(inline: Inline) -> None:
    with pytest.raises(UserError, match="unknown strategy 'magic'"):
        search(inline, scenario(2, 2), strategy="magic")


def test_reduction_keeps_only_what_is_needed(inline: Inline) -> None:
    found, runner = search(inline, scenario(2, 3, depth_two), strategy="random", seed=3)
    schedule, report = found.failures[0]
    smallest, again, runs = reduce(runner, schedule, report)
    assert again.signature == report.signature
    assert [str(d) for d in smallest.directives] == ["T0 after marker:a1: hand over to T1"]
    assert smallest.first == 0
    assert runs < 30
    assert runner.wait(runner.start(Job(smallest))).digest == again.digest
