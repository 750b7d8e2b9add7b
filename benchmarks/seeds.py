"""How many schedules a search needs, seed by seed.

    python benchmarks/seeds.py flag.warm 50

prints how many seeds found a failure, and the median and worst number of schedules until then (controls included).
"""

from __future__ import annotations

import statistics
import sys
import time

from harness.run.launch import Launcher
from harness.schedule import Schedule
from harness.search import explore


def main(reference: str, seeds: int, budget: int = 600) -> None:
    began = time.monotonic()
    needed: list[int] = []
    signatures: set[str] = set()
    with Launcher(reference) as launcher:
        base = Schedule(reference, launcher.about["threads"][0])
        for seed in range(seeds):
            found = explore(launcher, base, budget=budget, seed=seed)
            if found.failures:
                needed.append(found.schedules)
                signatures.add(f"{found.failures[0][1].outcome}: {found.failures[0][1].signature}")
    seconds = time.monotonic() - began
    middle = statistics.median(needed) if needed else float("nan")
    print(f"{reference}: found for {len(needed)} of {seeds} seeds, median {middle:g}, worst {max(needed, default=0)}, {seconds:.0f} s")
    for signature in sorted(signatures):
        print("  " + signature[:200])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
