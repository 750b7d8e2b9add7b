"""What a fix costs: warm compiled calls a second with it, against those without, in one process, in turns.

``python -m harness.verdict.cost FIX...`` prints one JSON object, ``{fix: ratio}``: 0.98 is a call that takes 2 % longer.
The calls are of a function small enough that nothing hides the cost: an addition and a product of four numbers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from harness.errors import UserError
from harness.fixes import find_fix

ROUNDS, SECONDS = 30, 0.02  #: of each: turns, and about how long one is


def costs(names: Sequence[str], python: str | None = None) -> dict[str, float]:
    """Throughput with each fix as a share of that without. Fixes that cannot be applied are left out.

    Raises UserError where the measurement itself fails.
    """
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [python or sys.executable, "-W", "ignore", "-m", "harness.verdict.cost", *names],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise UserError(f"the cost of fixes was not measured: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
    return {name: float(ratio) for name, ratio in json.loads(lines[-1]).items()}


def _of(name: str) -> float:
    import torch

    def affine(x: Any) -> Any:
        return x * 2 + 1

    x = torch.ones(4)

    def warm() -> Callable[[], Any]:
        torch._dynamo.reset()
        compiled = torch.compile(affine, backend="eager")
        compiled(x)
        return lambda: compiled(x)

    fix = find_fix(name)
    calls = _calls_a_turn(warm())
    ratios = []
    for _ in range(3):  # compiled anew: what is before the fix is without it
        without = warm()
        with fix.manager():
            under = warm()
            with_fix = [_turn(under, calls) for _ in range(ROUNDS // 3)]
        without = warm()
        plain = [_turn(without, calls) for _ in range(ROUNDS // 3)]
        ratios.append(min(plain) / min(with_fix))
    return median(ratios)


def _calls_a_turn(call: Callable[[], Any]) -> int:
    for _ in range(200):
        call()
    return max(1, int(SECONDS / (_turn(call, 200) / 200)))


def _turn(call: Callable[[], Any], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        call()
    return time.perf_counter() - began


def main() -> None:
    found = {}
    for name in sys.argv[1:]:
        try:
            found[name] = _of(name)
        except UserError as error:
            print(f"{name}: {error}", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
