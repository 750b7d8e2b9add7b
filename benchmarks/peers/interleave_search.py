"""Schedules that interleave-test 0.1.0 needs to the first failure: python interleave_search.py FILE SEEDS BUDGET

A line of JSON for each of its strategies at opcode granularity: schedules until the first failure, one number a seed,
null where there was none in the budget, or a text where the tool gave up.
"""

import json
import sys
import time

import interleave_test as it
from scenario import Adapted


def model_of(adapted):
    def model():
        both = adapted.setup()
        tasks = [it.spawn(worker, both) for worker in adapted.workers]
        for task in tasks:
            task.join()
        with it.no_interleave():
            assert adapted.holds(both)

    return model


def first(model, strategy, seed, budget):
    began = time.perf_counter()
    try:
        result = it.explore(model, iterations=budget, seed=seed, strategy=strategy, timeout=5.0, raise_on_failure=False)
    except Exception as error:
        return f"raised {type(error).__name__}", time.perf_counter() - began
    return (result.schedules_run if result.failure is not None else None), time.perf_counter() - began


def main():
    path, seeds, budget = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    model = model_of(Adapted(path))
    for strategy, times in (("random", seeds), ("pct", seeds), ("dfs", 1)):
        pairs = [first(model, strategy, seed, budget) for seed in range(times)]
        row = {"needed": [pair[0] for pair in pairs], "seconds": [pair[1] for pair in pairs]}
        print(json.dumps({strategy: row}), flush=True)


if __name__ == "__main__":
    main()
