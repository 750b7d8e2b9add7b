"""Small random programs with a bug that needs two preemptions, and the same programs repaired with a lock.

Each has two bodies over module globals; noise (accesses of other globals, calls, a lock, loops) is put between the
statements that matter, differently for every seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from textwrap import indent

#: name -> (statements of one body, statements of the other, what it returns when the planted order happened)
SHAPES: dict[str, tuple[list[str], list[str], str]] = {
    # seen in the middle of the other's window, and looked at again only after its end
    "window": (
        ["busy = True", "step(0)", "busy = False", "closed = True"],
        ["seen = busy", "step(1)", "bad = seen and closed"],
        "bad",
    ),
    # nothing published, then half of it
    "half": (
        ["before = head", "step(2)", "after = head", "bad = before == 0 and after == 1 and tail == 0"],
        ["head = 1", "step(3)", "tail = 1"],
        "bad",
    ),
    # an answer is overtaken by what follows it
    "turns": (
        ["turn = 1", "step(4)", "bad = turn == 2"],
        ["asked = turn", "if asked == 1: turn = 2", "step(5)", "if asked == 1: turn = 3"],
        "bad",
    ),
    # there at one look and gone at the next
    "restored": (
        ["mode = 1", "step(6)", "mode = 0"],
        ["one = mode", "step(7)", "two = mode", "bad = one == 1 and two == 0"],
        "bad",
    ),
}
_GLOBALS = {
    "busy": "False", "closed": "False", "head": "0", "tail": "0", "turn": "0", "mode": "0",
    "noise0": "0", "noise1": "0", "noise2": "0",
}  # fmt: skip


def program(seed: int, repaired: bool) -> str:
    """Source of a scenario file. With and without ``repaired`` it is the same but for the lock."""
    random = Random(seed)
    one, other, answer = SHAPES[sorted(SHAPES)[seed % len(SHAPES)]]
    bodies = [list(_noisy(one, random, "mine")), list(_noisy(other, random, "yours"))]
    if random.random() < 0.5:
        bodies.reverse()
    names = ", ".join(_GLOBALS)
    reset = "".join(f"    {name} = {value}\n" for name, value in _GLOBALS.items())
    text = "import threading\nfrom harness import Scenario\n"
    text += "".join(f"{name} = {value}\n" for name, value in _GLOBALS.items())
    text += "guard = mine = yours = None\ndef step(n):\n    return n + 1\n"
    text += f"def setup(axes):\n    global guard, mine, yours, {names}\n    guard, mine, yours = threading.Lock(), threading.Lock(), threading.Lock()\n{reset}"
    for index, statements in enumerate(bodies):
        lines = "\n".join(statements)
        core = f"with guard:\n{indent(lines, '    ')}" if repaired else lines
        text += f"def body{index}(_):\n    global {names}\n    bad = False\n{indent(core, '    ')}\n    return bool({answer})\n"
    text += "def check(_, results):\n    assert True not in results, 'the planted order'\n"
    return text + "scenario = Scenario([body0, body1], setup=setup, check=check, threads=(2, 2))\n"


def _noisy(statements: list[str], random: Random, lock: str) -> Iterator[str]:
    """A lock of each body's own: one that both take could force the second change of threads."""
    for statement in statements:
        for _ in range(random.choice((0, 0, 1, 2))):
            name = f"noise{random.randrange(3)}"
            yield random.choice(
                (f"{name} = step({name})", f"step({name})", f"with {lock}: {name} = step(0)", f"for _i in range(2): {name} += 1")
            )
        yield statement
