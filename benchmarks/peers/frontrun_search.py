"""Schedules that frontrun 0.7.0 needs to the first failure: frontrun python frontrun_search.py FILE SEEDS BUDGET

One line of JSON: strategy -> schedules until the first failure, one number a seed, null where there was none in the
budget, or a text where the tool gave up. DPOR takes no seed: one number.
"""

import json
import sys
import time

import frontrun
from scenario import Adapted


def first(adapted, strategy, seed, budget):
    options = {"max_attempts": budget, "seed": seed} if strategy == "random" else {"max_executions": budget}
    began = time.perf_counter()
    try:
        result = frontrun.explore(
            adapted.setup, adapted.workers, adapted.holds, strategy=strategy, detect_io=False,
            deadlock_timeout=1.0, reproduce_on_failure=0, total_timeout=30, **options,
        )
    except Exception as error:  # what a worker raised is a failure that it found, but how many it ran it does not say
        return f"raised {type(error).__name__}", time.perf_counter() - began
    found = None if result.property_holds else result.num_explored
    return found, time.perf_counter() - began


def main():
    path, seeds, budget = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    adapted = Adapted(path)
    answer = {}
    for strategy, times in (("random", seeds), ("dpor", 1)):
        pairs = [first(adapted, strategy, seed, budget) for seed in range(times)]
        answer[strategy] = {"needed": [pair[0] for pair in pairs], "seconds": [pair[1] for pair in pairs]}
        print(json.dumps({strategy: answer[strategy]}), flush=True)


if __name__ == "__main__":
    main()
