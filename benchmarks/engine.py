"""Speed and size of the engine; every ratio comes from one run of this file.

    python benchmarks/engine.py [--frontrun PYTHON] [--interleave PYTHON] [--runs N]

Peers live in environments of their own (``pip install frontrun==0.7.0``, ``pip install interleave-test==0.1.0``) and run
the same toy: two threads, a read, a call, a write. All of it is pinned to one core but for the runs per second.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from harness.run.inline import InlineRunner
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Directive, Schedule
from harness.schedule.schedule import action_of

HERE = Path(__file__).parent
TOY = str(HERE.parent / "examples" / "fail" / "lost_update.py")


def toy(runs: int) -> None:
    """Every hand-over of the toy in turn, both start orders: schedules per second in one process."""
    with InlineRunner(TOY) as runner:
        schedules = []
        for first in (0, 1):
            control = runner.run(Job(Schedule(TOY, 2, first)))
            schedules.append(Schedule(TOY, 2, first))
            for thread, point, n, _ in control.passes():
                other = "T1" if thread == "T0" else "T0"
                schedules.append(Schedule(TOY, 2, first, directives=(Directive(thread, point, n, action_of(other)),)))
        began, failed = time.perf_counter(), 0
        for number in range(runs):
            failed += runner.run(Job(schedules[number % len(schedules)])).failed
        seconds = time.perf_counter() - began
    print(f"ours, Python {sys.version.split()[0]}: {runs / seconds:.0f} schedules/s ({failed} of {runs} lost the update)")


def peer(python: str, script: str, runs: int) -> None:
    command = [python, str(HERE / "peers" / script), str(runs)]
    if script.startswith("frontrun"):
        command = [str(Path(python).parent / "frontrun"), "python", *command[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(f"{script} with {python}:\n{(done.stdout or done.stderr).strip()}")


def fork_rate(runs: int) -> None:
    """Runs of flag.warm in fresh processes per second, against starting an interpreter for each."""
    began = time.perf_counter()
    with Launcher("flag.warm") as launcher:
        started = time.perf_counter() - began
        point = "write:torch.fx._symbolic_trace._is_fx_tracing_flag"
        job = Job(Schedule("flag.warm", 2, directives=(Directive("T0", point, 1, action_of("T1")),)))
        began = time.perf_counter()
        reports = [report for _, report in launcher.map([job] * runs)]
        seconds = time.perf_counter() - began
    rate = runs / seconds
    failed = sum(report.failed for report in reports)
    print(f"flag.warm: {rate:.1f} runs/s with {launcher.jobs} jobs ({failed} of {runs} failed, as they must); ")
    print(f"  starting the interpreter, torch, scan: {started:.1f} s, so {rate * started:.0f}x a start for each run")
    print(f"  resident at most {max(report.rss_mb for report in reports):.0f} MB a child, shared pages included")


def compile_cost(repeats: int) -> None:
    """Processor time of a compile under the controller, with points and without, in alternation."""
    from harness.control import collect, install

    install.install()
    from harness.control.backends import Backend
    from harness.control.controller import Controller
    from harness.control.sparse import Sparse
    from harness.run.child import _start
    from harness.run.world import World

    world = World("flag.first")
    import torch

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ x + 1).sum()

    def once(backend: Backend | None, compiler: str) -> float:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            control = Controller(Sparse(()), backend=backend)
            with collect.on_demand_only():
                began = time.process_time()
                control.run([lambda: torch.compile(function, backend=compiler)(torch.ones(4, 4))], 0, _start)
                os.write(write, f"{time.process_time() - began}".encode())
            os._exit(0)
        os.close(write)
        text = os.read(read, 100)
        os.close(read)
        os.waitpid(pid, 0)
        return float(text)

    for compiler in ("eager", "aot_eager"):
        torch.compile(function, backend=compiler)(torch.ones(4, 4))
        torch._dynamo.reset()
        plain: list[float] = []
        pointed: list[float] = []
        for _ in range(repeats):
            plain.append(once(None, compiler))
            pointed.append(once(world.backend, compiler))
        a, b = statistics.median(plain), statistics.median(pointed)
        print(f"cold {compiler} compile: {1000 * a:.1f} ms without points, {1000 * b:.1f} ms with, {b / a:.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--frontrun", action="append", default=[], metavar="PYTHON")
    parser.add_argument("--interleave", action="append", default=[], metavar="PYTHON")
    parser.add_argument("--runs", type=int, default=1000)
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    fork_rate(max(50, options.runs // 5))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    toy(options.runs)
    for python in options.frontrun:
        peer(python, "frontrun_toy.py", options.runs)
    for python in options.interleave:
        peer(python, "interleave_toy.py", options.runs)
    compile_cost(15)


if __name__ == "__main__":
    main()
