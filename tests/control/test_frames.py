"""The log of frames that Dynamo's hook was given: what it says, and that it changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.programs import write

from harness.control import frames
from harness.errors import UserError
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.report import Report
from harness.schedule import Schedule

pytest.importorskip("torch._dynamo")

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

def refused(x):
    return x * 3

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
    def refuse(module, inputs):
        raise ValueError("no")
    try:
        torch.compile(refused, backend=refuse)(torch.ones(2))
    except torch._dynamo.exc.BackendCompilerFailed:
        results.append("refused")
    return [results, made, {name: dict(counters[name]) for name in ("frames", "stats")}]

import torch
scenario = Scenario([body, body], modules=TORCH_MODULES, sequential=False)
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Report, ...]]:
    """The same schedule without the log, with it, and with all that an explanation records besides."""
    reference = write(Path(tmp_path_factory.mktemp("frames")), SCENARIO, "case_frames")
    with Launcher(reference, jobs=1) as launcher:
        schedule = Schedule(reference, 2)
        jobs = (Job(schedule), Job(schedule, frames=True), Job(schedule, detail=True, frames=True))
        yield tuple(launcher.run(job) for job in jobs)


def of(report: Report, name: str) -> list[Any]:
    """The frames of thread 0 in a function of the scenario's own."""
    return [seen for seen in report.frames if seen.thread == "T0" and seen.function == f"case_frames.{name}"]


def test_it_changes_nothing(reports: tuple[Report, ...]) -> None:
    without = reports[0]
    assert without.outcome == "ok", without.message
    assert not without.frames
    assert without.results[0][2]["frames"]["ok"] >= 1
    assert without.results[0][0][-1] == "refused"
    for with_it in reports[1:]:
        assert with_it.frames
        assert with_it.digest == without.digest
        assert with_it.log == without.log, "places too: Dynamo walks the stack, and a frame of ours would be one step more"
        assert with_it.results == without.results


def test_what_became_of_each_frame(reports: tuple[Report, ...]) -> None:
    report = reports[2]
    assert [(seen.what, seen.why) for seen in of(report, "refused")] == [("raised", "BackendCompilerFailed")]
    assert [seen.what for seen in of(report, "graph")] == ["compiled", "from cache"]
    compiled = of(report, "graph")[0]
    assert compiled.until > compiled.at, "the compile itself passed points"
    assert all(0 <= seen.at <= seen.until <= len(report.log) for seen in report.frames)
    assert of(report, "inner") == [], "the hook never sees what Dynamo inlines"
    given, again = ([(seen.what, seen.function) for seen in one.frames if seen.what != "marked"] for one in reports[1:])
    assert given == again, "the same frames, whatever else is recorded"


def test_a_marked_function_is_told_from_one_that_was_given(reports: tuple[Report, ...]) -> None:
    whats = [seen.what for seen in of(reports[2], "broken")]
    if not hasattr(sys.modules["torch"]._C._dynamo.eval_frame, "get_eval_frame_callback"):
        assert whats == ["skipped"]
    else:
        assert (whats[0], set(whats[1:])) == ("skipped", {"marked"}), "a graph break in a loop"


def test_the_callback_of_torch_2_0_is_found_by_its_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a closure there. Where there is neither, no empty log is made."""

    class Of:
        @staticmethod
        def catch_errors_wrapper(callback: Any) -> Any:
            def catch_errors(frame: Any, cache_size: Any) -> Any:
                return callback(frame, cache_size)

            return catch_errors

    monkeypatch.setitem(sys.modules, "torch._dynamo.eval_frame", Of)  # type: ignore[arg-type]
    assert frames._callback(object()).co_name == "catch_errors"
    del Of.catch_errors_wrapper
    with pytest.raises(UserError, match="its callback is not where it was"):
        frames._callback(object())
