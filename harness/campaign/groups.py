"""Failures grouped by signature, and what the scenarios without one rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.scenario.threads import in_words

from .pairs import Coverage
from .plan import Cell
from .store import Content


@dataclass
class Group:
    """Failures of one scenario with the same outcome and the same signature once reduced.

    schedules  how many failed so in units that are done
    units      the numbers of those units, and of units that were cut short after they showed it
    best       the one with the fewest directives, of the lowest unit
    """

    scenario: str
    outcome: str
    signature: str
    schedules: int
    units: list[int]
    best: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "outcome": self.outcome,
            "signature": self.signature,
            "schedules": self.schedules,
            "units": self.units,
            **{name: value for name, value in self.best.items() if name != "minimal_signature"},
        }


def _size(failure: dict[str, Any]) -> int:
    return len((failure["minimal"] or failure["original"])["directives"])


def groups(content: Content) -> list[Group]:
    """Those of most schedules first."""
    found: dict[tuple[str, str, str], Group] = {}
    counts = {
        (number, outcome, signature): times
        for number, unit in content.units.items()
        for outcome, signature, times in unit["failing"]
    }
    for key in sorted(content.failures):
        number, outcome, _ = key
        failure = content.failures[key]
        scenario, signature = content.plan.unit(number).cell.scenario, failure["minimal_signature"]
        group = found.setdefault(
            (scenario, outcome, signature), Group(scenario, outcome, signature, 0, [], failure)
        )
        group.schedules += counts.get(key, 0)
        if number not in group.units:
            group.units.append(number)
        if (failure["minimal"] is None, _size(failure)) < (group.best["minimal"] is None, _size(group.best)):
            group.best = failure
    return sorted(found.values(), key=lambda group: (-group.schedules, group.scenario, group.outcome, group.signature))


def coverage(content: Content) -> Coverage:
    found = Coverage()
    for number, unit in content.units.items():
        found.add(number % len(content.plan.cells), unit["pairs"])
    return found


def negatives(content: Content) -> list[tuple[Cell, bool, str]]:
    """(cell, certain, on what that rests) for every cell in which nothing failed; the best of its units speaks."""
    plan, found = content.plan, []
    failed = {number % len(plan.cells) for number, _, _ in content.failures}
    for place, cell in enumerate(plan.cells):
        units = [unit for number, unit in sorted(content.units.items()) if number % len(plan.cells) == place]
        if place in failed:
            continue
        best = next((unit for unit in units if unit["certain"]), units[0] if units else None)
        found.append((cell, best["certain"], best["rests_on"]) if best else (cell, False, "no search has ended: inconclusive"))
    return found


def summary(content: Content) -> dict[str, Any]:
    """All of a store that a report shows, as plain data."""
    pairs = coverage(content)
    begun = {number for number, _, _ in content.failures} - set(content.units)
    return {
        "scenarios": list(dict.fromkeys(cell.scenario for cell in content.plan.cells)),
        "python": content.plan.python,
        "units": len(content.units),
        "cut_short": len(begun),
        "schedules": sum(unit["schedules"] for unit in content.units.values()),
        "failing": sum(times for unit in content.units.values() for _, _, times in unit["failing"]),
        "seconds": round(sum(content.seconds.values()), 3),
        "pairs": {"met": len(pairs.met), "seen": len(pairs.seen)},
        "failures": [group.to_json() for group in groups(content)],
        "negatives": [
            {"scenario": cell.scenario, "threads": list(cell.counts), "axes": cell.held, "certain": certain, "rests_on": says}
            for cell, certain, says in negatives(content)
        ],
    }


def _where(item: dict[str, Any]) -> str:
    """How often a failure came; a search that was cut short has not been counted."""
    units = f"{len(item['units'])} unit{'s' * (len(item['units']) != 1)}"
    return f"{item['schedules']} schedules in {units}" if item["schedules"] else f"in {units}, cut short: not counted"


def as_text(content: Content) -> str:
    data = summary(content)
    lines = [
        f"{data['units']} units, {data['schedules']} schedules, {data['failing']} failing; "
        f"{data['pairs']['met']} of {data['pairs']['seen']} state pairs met"
        + (f"; {data['cut_short']} units were cut short after a failure" if data["cut_short"] else "")
    ]
    fix = "" if content.plan.fix == "none" else f" --fix {content.plan.fix}"
    for item in data["failures"]:
        replay = item["replay"]
        lines += [
            "",
            f"{item['scenario']}  {item['outcome']}: {item['signature']}",
            f"  {_where(item)}; "
            + (f"replayed {replay['same']} of {replay['times']} times" if item["minimal"] else "not reduced"),
            f"  harness replay {item['token']}{fix}",
            *([f"  before reduction {item['original_token']}"] if item["minimal"] else []),
            f"  source {item['digest']}, torch {item['torch'] or 'none'}, Python {item['python']}, {item['platform']}",
        ]
    if data["negatives"]:
        lines.append("")
    for item in data["negatives"]:
        axes = "".join(f", {name}={value}" for name, value in item["axes"].items())
        word = "none found" if item["certain"] else "nothing shown"
        counts = item["threads"]
        lines.append(f"{item['scenario']}, {in_words(counts[0], counts[-1])}{axes}  {word}: {item['rests_on']}")
    return "\n".join(lines)
