"""Schedules and seconds to the first failure, 20 seeds each, against two other tools and against plain threads.

    python benchmarks/search.py [SCENARIO ...] [--seeds 20] [--frontrun PYTHON] [--interleave PYTHON] [--plain RUNS]

SCENARIO: built-in names and files; without any, every file of examples/fail and every flag scenario. Thread count, axes
and who starts are drawn by the search, from nothing but the seed. PYTHON is an interpreter in whose environment the other
tool is installed (frontrun 0.7.0, interleave-test 0.1.0); the best of a tool's strategies is shown. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.scenario.load import builtin_names
from harness.schedule import Schedule, to_token
from harness.search import Space, explore
from harness.search.reduce import reduce

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "benchmarks" / "peers"
FREE = "unrealizable_update"  # the interpreter never does that while it has a GIL
BUDGET = 600
PEER_BUDGET = 300
_WAIT = 150.0  # seconds a peer may take for one example


def numbers(needed: list[Any]) -> str:
    """``median (worst)`` of those that found something, and how many did not."""
    found = [number for number in needed if isinstance(number, int)]
    other = [number for number in needed if isinstance(number, str)]
    if not found:
        return other[0] if other else f"0 of {len(needed)}"
    lost = f", {len(found)} of {len(needed)}" if len(found) < len(needed) else ""
    return f"{statistics.median(found):g} ({max(found)}){lost}"


def ours(reference: str, seeds: int) -> dict[str, Any]:
    free = FREE in reference
    row: dict[str, Any] = {"needed": [], "seconds": [], "reduced": [], "signatures": set(), "minimal": set()}
    with Launcher(reference, free=free) as launcher:
        low, high = launcher.about["threads"]
        home = Schedule(reference, low, free=free)
        space = Space(home, range(low, high + 1), launcher.about["axes"])
        for seed in range(seeds):
            found = explore(launcher, home, space=space, budget=BUDGET, seed=seed)
            row["needed"].append(found.schedules if found.failures else None)
            row["seconds"].append(found.seconds)
            if found.failures:
                began = time.monotonic()
                schedule, report, _ = reduce(launcher, *found.failures[0])
                row["reduced"].append(time.monotonic() - began)
                row["signatures"].add(f"{report.outcome}: {report.signature}"[:150])
                row["minimal"].add(to_token(schedule))
    return row


def plain(reference: str, runs: int) -> str:
    with Launcher(reference) as launcher:
        base = Schedule(reference, launcher.about["threads"][0])
        failed = sum(report.failed for _, report in launcher.map(Job(base, plain=True) for _ in range(runs)))
    return f"{failed} of {runs}"


def peer(python: str, script: str, path: str, seeds: int, start: list[str]) -> dict[str, Any]:
    """Strategy -> what the script printed of it; what it had not said by the end of its time is missing."""
    command = [*start, python, str(PEERS / script), path, str(seeds), str(PEER_BUDGET)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_WAIT, env=environment, cwd=PEERS, check=False)
        text = done.stdout
    except subprocess.TimeoutExpired as error:
        text = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
    answer: dict[str, Any] = {}
    for line in text.splitlines():
        if line.startswith("{"):
            answer.update(json.loads(line))
    return answer


def best(answer: dict[str, Any]) -> str:
    """Of the strategies: most seeds found, then the least median."""

    def rank(item: tuple[str, Any]) -> tuple[float, float]:
        found = [number for number in item[1]["needed"] if isinstance(number, int)]
        return -len(found) / len(item[1]["needed"]), statistics.median(found) if found else float("inf")

    if not answer:
        return "no end"
    name, row = min(answer.items(), key=rank)
    return f"{numbers(row['needed'])} {name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--frontrun", metavar="PYTHON")
    parser.add_argument("--interleave", metavar="PYTHON")
    parser.add_argument("--plain", type=int, default=0, metavar="RUNS")
    options = parser.parse_args()
    toys = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples" / "fail").glob("*.py"))
    references = options.scenarios or [*toys, *(name for name in builtin_names() if name.startswith("flag."))]
    os.chdir(ROOT)
    heads = ["scenario", "schedules", "seconds", "reduction, s", "signatures", "smallest forms"]
    heads += ["frontrun"] * bool(options.frontrun) + ["interleave-test"] * bool(options.interleave)
    heads += ["plain threads"] * bool(options.plain)
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    details: list[str] = []
    for reference in references:
        row = ours(reference, options.seeds)
        toy = reference.endswith(".py")
        cells = [
            f"`{Path(reference).stem if toy else reference}`", numbers(row["needed"]),
            f"{statistics.median(row['seconds']):.2f} ({max(row['seconds']):.2f})",
            f"{statistics.median(row['reduced']):.2f} ({max(row['reduced']):.2f})" if row["reduced"] else "-",
            str(len(row["signatures"])), str(len(row["minimal"])),
        ]  # fmt: skip
        if options.frontrun:
            command = [str(Path(options.frontrun).parent / "frontrun")]
            path = str(ROOT / reference)
            cells.append(best(peer(options.frontrun, "frontrun_search.py", path, options.seeds, command)) if toy else "-")
        if options.interleave:
            path = str(ROOT / reference)
            cells.append(best(peer(options.interleave, "interleave_search.py", path, options.seeds, [])) if toy else "-")
        if options.plain:
            cells.append(plain(reference, options.plain))
        print("| " + " | ".join(cells) + " |", flush=True)
        details += [f"{reference}\n  " + "\n  ".join(sorted([*row["signatures"], *row["minimal"]]))]
    print("\n".join(details), file=sys.stderr)


if __name__ == "__main__":
    main()
