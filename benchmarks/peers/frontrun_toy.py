"""Rate of frontrun 0.7.0 on a lost update: frontrun python toy_frontrun.py [SCHEDULES]

It must be started by the frontrun command, or explore() refuses.
A run never stops early: the invariant counts lost updates but always holds.
"""

import dis
import platform
import sys
import time

import frontrun


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


def count_lost(counter):
    global lost
    lost += counter.value != 2
    return True


def random_schedules(schedules, **options):
    """Opcode granularity; one explore() call runs all schedules."""
    result = frontrun.explore(
        Counter, worker, count_lost, count=2, strategy="random",
        max_attempts=schedules, seed=1, **options,
    )
    assert result.property_holds, result.explanation
    return result.num_explored, f"{result.unique_interleavings} distinct"


def dpor_schedules(schedules, **options):
    """Accesses (found at opcode granularity); one call exhausts the toy, so call again."""
    done = calls = 0
    while done < schedules:
        result = frontrun.explore(Counter, worker, count_lost, count=2, stop_on_first=False, **options)
        assert result.property_holds, result.explanation
        done += result.num_explored
        calls += 1
    return done, f"{calls} calls of {result.num_explored}"


def opcodes():
    """Opcodes in one schedule, each a possible switch (the bytecode has no branches)."""
    return 2 * sum(1 for f in (worker, helper) for _ in dis.get_instructions(f))


def dpor_steps():
    """Length of one DPOR schedule, read from a counterexample to an invariant that never holds."""
    result = frontrun.explore(Counter, worker, lambda c: False, count=2, reproduce_on_failure=0)
    return len(result.counterexample)


def main():
    global lost
    schedules = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    events = "sys.monitoring" if sys.version_info >= (3, 12) else "sys.settrace + f_trace_opcodes"
    print(f"frontrun 0.7.0, Python {platform.python_version()}, opcodes by {events}")
    print(f"steps in a schedule: random {opcodes()} opcodes, dpor {dpor_steps()} accesses and switches")
    for name, run, options in [
        ("random", random_schedules, {}),
        ("random detect_io=False", random_schedules, {"detect_io": False}),
        ("dpor", dpor_schedules, {}),
        ("dpor detect_io=False", dpor_schedules, {"detect_io": False}),
        ("dpor preemption_bound=None", dpor_schedules, {"preemption_bound": None}),
    ]:
        run(20, **options)  # warm up
        lost = 0
        start = time.perf_counter()
        done, note = run(schedules, **options)
        seconds = time.perf_counter() - start
        print(f"{name:28} {done:6} schedules {seconds:7.2f} s {done / seconds:7.0f}/s  lost {lost} ({note})")


if __name__ == "__main__":
    main()
