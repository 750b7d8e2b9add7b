"""Is it the same failure after fewer tests? What it says must be the same but for what fewer tests make different."""

from __future__ import annotations

import re

from harness.run.outcome import template

_INNERMOST = re.compile(r"[\[({](?:[^\[\](){}]|\[\]|\(\)|\{\})+[\])}]")  # an empty pair stays: nothing is not something


def signature(kind: str, message: str, where: str, when: str) -> str:
    """Kind of exception, first line of its message, innermost function; the phase where it is not the call.

    Addresses, paths and numbers are taken out, and what stands in brackets: a list to which three tests have added is
    shorter after one.
    """
    lines = message.strip().splitlines()
    line, before = (lines[0] if lines else ""), None
    while line != before:
        before = line
        line = _INNERMOST.sub("<...>", line)
    said = template(line)
    return f"{kind}: {said}".strip(": ") + f" [{where}]" * bool(where) + f" in {when}" * (when != "call")
