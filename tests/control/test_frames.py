"""The log of frames that Dynamo's hook was given: what it says, and that it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.programs import write

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule

pytest.importorskip("torch")

SCENARIO = """
from harness import TORCH_MODULES

def inner(x):
    return x + 1

def graph(x):
    return inner(x) * 2

def broken(x):
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x - 1
    return x

def body(shared):
    import torch._dynamo
    from torch._dynamo.utils import counters
    counters.clear()
    made = []
    def backend(module, inputs):
        made.append(sum(node.op == "call_function" for node in module.graph.nodes))
        return module.forward
    one, other = torch.compile(graph, backend=backend), torch.compile(broken, backend=backend)
    results = [f(torch.ones(2)).tolist() for f in (one, one, other, other)]
    return [results, made, {name: dict(counters[name]) for name in ("frames", "stats")}]

import torch
scenario = Scenario([body, body], modules=TORCH_MODULES, sequential=False)
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Report, Report]]:
    """The same schedule without and with the log."""
    reference = write(Path(tmp_path_factory.mktemp("frames")), SCENARIO)
    with Launcher(reference, jobs=1) as launcher:
        schedule = Schedule(reference, 2)
        yield launcher.run(Job(schedule)), launcher.run(Job(schedule, detail=True, frames=True))


def test_it_changes_nothing(reports: tuple[Report, Report]) -> None:
    without, with_it = reports
    assert without.outcome == with_it.outcome == "ok", with_it.message
    assert not without.frames
    assert with_it.log == without.log, "points, and places between them"
    assert with_it.digest == without.digest
    assert with_it.results == without.results
    assert without.results[0][2]["frames"]["ok"] >= 1


def test_what_became_of_each_frame(reports: tuple[Report, Report]) -> None:
    found = [seen for seen in reports[1].frames if seen.function.endswith((".graph", ".broken"))]
    of: dict[Any, list[str]] = {}
    for seen in found:
        of.setdefault((seen.thread, seen.function.rpartition(".")[2]), []).append(seen.what)
        assert 0 <= seen.at <= seen.until <= len(reports[1].log)
    assert of["T0", "graph"][:2] == ["compiled", "from cache"]
    assert of["T0", "broken"][0] in ("skipped", "compiled"), "a graph break in a loop"
    compiled = next(seen for seen in found if seen.what == "compiled")
    assert compiled.until > compiled.at, "the compile itself passed points"
    inlined = [seen for seen in reports[1].frames if seen.function.endswith(".inner")]
    assert not inlined, "the hook never sees what Dynamo inlines"


def test_a_marked_function_is_told_from_one_that_was_given(reports: tuple[Report, Report]) -> None:
    whats = [seen.what for seen in reports[1].frames if seen.thread == "T0" and seen.function.endswith(".broken")]
    if whats[0] == "compiled":
        pytest.skip("this release compiles around the break")
    assert whats == ["skipped", "marked"]
