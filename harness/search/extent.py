"""How far a search went, in words: for which thread counts and axes it is exhaustive, where it only sampled, and PCT's bound."""

from __future__ import annotations

from .everywhere import Part
from .explore import Exploration


def extent(found: Exploration, own: int) -> str:
    """``exhaustive up to 2 preemptions at … with 2 threads; elsewhere …; depth 2 missed with probability …``.

    ``own``: places of the scenario's own code at home.
    """
    home = found.parts[0]
    choices = ", or choices of who goes on where a thread waits," if found.choices else ""
    says = [
        f"{_exhaustive(found.complete)}{choices} at {home.states} conflicting states and {home.locks} lock points, "
        f"up to {max(0, home.own)} at {own} places of the scenario's own code, with {home.shape}{' and those they start' if found.started else ''}"
    ]
    if found.parts[1:]:
        says.append("elsewhere " + ", ".join(_part(part) for part in found.parts[1:]))
    if found.chance is not None:
        chance = found.chance
        says.append(
            f"PCT's {chance.runs} schedules miss a bug of depth 2 with probability at most {chance.miss:.2g} "
            f"(n={chance.threads}, k={chance.steps})"
        )
    return "; ".join(says)


def _exhaustive(complete: int) -> str:
    return f"exhaustive up to {complete} preemption{'s' if complete != 1 else ''}"


def _part(part: Part) -> str:
    sampled = "sampled" if part.complete < 1 else _exhaustive(part.complete)
    return f"({part.shape}: {part.schedules} schedules, {sampled})"
