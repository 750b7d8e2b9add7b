"""Instruments change nothing about what is compiled: frames, ops and graphs are those of a plain process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.programs import write

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

pytest.importorskip("torch")

BODY = """
def compile_all(backend):
    import torch
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)
        def forward(self, x):
            if x.sum() > 1000:  # a graph break
                return x
            return torch.relu(self.linear(x)) + 1

    def function(x, n):
        for _ in range(n):
            x = torch.sin(x) * 2
        return x.cos(), {"n": n}

    torch.manual_seed(0)
    module = torch.compile(Block(), backend=backend)
    compiled = torch.compile(function, backend=backend)
    out = module(torch.ones(2, 4, requires_grad=True))
    out.sum().backward()
    results = [compiled(torch.ones(3), n)[0].sum().item() for n in (2, 2, 3)]
    return {
        "results": [round(x, 4) for x in [*results, out.sum().item()]],
        "counters": {
            name: {key: n for key, n in sorted(counters[name].items()) if "cache" not in key}
            for name in ("frames", "stats", "graph_break", "aot_autograd")
        },
    }
"""
SCENARIO = (
    BODY
    + """
from harness import TORCH_MODULES
scenario = Scenario(
    [lambda backend: compile_all(backend)], setup=lambda axes: axes["backend"],
    axes={"backend": ["eager", "aot_eager"]}, modules=TORCH_MODULES,
)
"""
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same program in a process without any of this."""
    script = tmp_path_factory.mktemp("plain") / "script.py"
    script.write_text(
        BODY + "import json\nprint(json.dumps({b: compile_all(b) for b in ('eager', 'aot_eager')}))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Any:
    reference = write(Path(tmp_path_factory.mktemp("instrumented")), SCENARIO)
    with Launcher(reference, jobs=1) as made:
        yield made


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("detail", [False, True], ids=["", "recorded"])
def test_same_frames_and_ops(launcher: Launcher, plain: dict[str, Any], backend: str, detail: bool) -> None:
    report = launcher.run(Job(Schedule(launcher.reference, 1, axes={"backend": backend}), detail=detail))
    assert report.outcome == "ok", report.message
    assert len(report.log) > 100, "the run was instrumented"
    assert report.results[0] == plain[backend]
    assert plain[backend]["counters"]["frames"]["ok"] >= 4, "two of them around a graph break"


def test_the_other_order_of_backends_in_fresh_processes(launcher: Launcher) -> None:
    jobs = [
        Job(Schedule(launcher.reference, 1, axes={"backend": backend}))
        for backend in ("aot_eager", "eager") * 2
    ]
    digests = [report.digest for _, report in launcher.map(jobs)]
    assert digests[:2] == digests[2:]


WARM = """
import torch

def setup(axes):
    graphs = []
    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward
    return torch.compile(lambda x: x * 2, backend=backend, fullgraph=True), graphs

def call(shared):
    function, graphs = shared
    return [function(torch.ones(2)).tolist(), len(graphs)]

scenario = Scenario([call], setup=setup, modules=["torch._dynamo.eval_frame"], fine=["torch._dynamo.eval_frame"])
"""


def test_what_decides_within_a_compiled_call_is_not_compiled(tmp_path: Path) -> None:
    with Launcher(write(tmp_path, WARM), jobs=1) as launcher:
        schedule = Schedule(launcher.reference, 1)
        watch = sorted({point for _, point, _, _ in launcher.run(Job(schedule)).passes()})
        for strategy in (
            {"kind": "pct", "order": [0], "changes": [1], "watch": watch},
            {"kind": "surw", "seed": 0, "weights": {"T0": len(watch)}, "watch": watch},
            {"kind": "walk", "seed": 0, "stay": 0.5},
        ):
            report = launcher.run(Job(schedule, strategy=strategy))
            assert (report.outcome, report.results) == ("ok", [[[2.0, 2.0], 1]]), f"{strategy['kind']}: {report.message}"
