"""Rate of interleave-test 0.1.0 on a lost update: python toy_interleave.py [SCHEDULES]

A run never stops early: the model counts lost updates but raises nothing.
"""

import platform
import sys
import time

import interleave_test as it


class Counter:
    def __init__(self):
        self.value = 0


def helper(seen):
    return seen


def worker(counter):
    seen = counter.value
    helper(seen)
    counter.value = seen + 1


lost = 0


def model():
    global lost
    counter = Counter()
    first = it.spawn(worker, counter)
    second = it.spawn(worker, counter)
    first.join()
    second.join()
    with it.no_interleave():
        lost += counter.value != 2


def failing_model():
    model()
    raise AssertionError


def points(granularity):
    """Scheduling decisions in one schedule (the model's own thread included)."""
    result = it.explore(failing_model, iterations=1, seed=1, granularity=granularity, raise_on_failure=False)
    return len(result.failure.schedule.choices)


def explore(schedules, strategy, granularity):
    """Run at least this many schedules; DFS is started again when it has exhausted the toy."""
    done = calls = 0
    while done < schedules:
        result = it.explore(
            model, iterations=schedules - done, seed=1, strategy=strategy, granularity=granularity
        )
        done += result.schedules_run
        calls += 1
    return done, calls, result.exhausted


def main():
    global lost
    schedules = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"interleave-test 0.1.0, Python {platform.python_version()}, sys.monitoring")
    for granularity in ("opcode", "line"):
        print(f"{granularity}: {points(granularity)} decisions in a schedule")
        for strategy in ("random", "pct", "dfs"):
            explore(20, strategy, granularity)  # warm up
            lost = 0
            start = time.perf_counter()
            done, calls, exhausted = explore(schedules, strategy, granularity)
            seconds = time.perf_counter() - start
            print(
                f"{granularity:7} {strategy:7} {done:6} schedules {seconds:7.2f} s {done / seconds:7.0f}/s"
                f"  lost {lost} ({calls} calls, exhausted {exhausted})"
            )


if __name__ == "__main__":
    main()
