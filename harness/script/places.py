"""At which instructions the points of a schedule are: asked of a process that has the scenario loaded and scanned.

``python -m harness.script.places REFERENCE POINT…`` prints one JSON object; :func:`places_of` runs it.
"""

from __future__ import annotations

import dis
import json
import os
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import Any

from harness.control.instrument import Instrumented
from harness.errors import UserError


def places_of(reference: str, points: list[str], python: str) -> dict[str, Any]:
    """``points``: for each point its places; ``source``: the scenario's file; ``name``: the scenario's in it."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [python, "-m", "harness.script.places", reference, *points],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        raise UserError(f"{reference}: {(done.stderr.strip().splitlines() or ['it cannot be loaded'])[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def _main(reference: str, points: list[str]) -> None:
    from harness.run.world import World

    world = World(reference)
    name = next(key for key, value in vars(world.module).items() if value is world.scenario)
    found: dict[str, list[dict[str, Any]]] = {point: [] for point in points}
    for instrumented in world.instruments.known():
        for point in points:
            found[point] += _in_code(instrumented, point, world.module.__file__ or "")
    print(json.dumps({"points": found, "source": world.module.__file__, "module": world.module.__name__, "name": name}))


def _in_code(instrumented: Instrumented, point: str, own: str) -> list[dict[str, Any]]:
    code, sites = instrumented.sites.code, instrumented.sites
    where = {"file": "" if code.co_filename == own else _suffix(code.co_filename), "function": sites.qualname}
    found: list[dict[str, Any]] = []
    if point in instrumented.entry:
        found.append({**where, "at": "start"})
    if point in instrumented.exit:
        found.append({**where, "at": "return"})
    for offset, act in instrumented.acts.items():
        if point in act.points:
            op, name, ordinal = _instruction(code, offset)
            found.append({**where, "at": act.kind.name.lower(), "op": op, "name": name, "ordinal": ordinal})
    return found


def _instruction(code: CodeType, offset: int) -> tuple[str, str, int]:
    """Name of the operation, its argument in words, and how many like it come before: survives shifted lines."""
    before = 0
    target = next(i for i in dis.get_instructions(code) if i.offset == offset)
    for instruction in dis.get_instructions(code):
        if instruction.offset == offset:
            break
        before += (instruction.opname, instruction.argrepr) == (target.opname, target.argrepr)
    return target.opname, target.argrepr, before


def _suffix(path: str) -> str:
    """What follows the folder on ``sys.path`` that it lies in."""
    roots = [os.path.abspath(root) + os.sep for root in sys.path if root]
    inside = [root for root in roots if path.startswith(root)]
    return path[len(max(inside, key=len)) :] if inside else os.path.basename(path)


if __name__ == "__main__":
    try:
        _main(sys.argv[1], sys.argv[2:])
    except UserError as error:
        sys.exit(str(error))
