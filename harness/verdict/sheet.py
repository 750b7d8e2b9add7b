"""Many cases in one table: a row for each fix, a column for each case, and what the fix costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.schedule import to_token
from harness.table import Cell, Row, Table

from .case import Judged
from .judge import Verdict

_KIND = {"holds": "good", "fails": "bad", "masks": "bad", "untested": "open"}


def sheet(cases: Sequence[Judged], costs: Mapping[str, float], *, required: Sequence[str] = ()) -> Table:
    """``required``: the fixes whose cells are marked where they are not ``holds``. Fixes that ``costs`` lacks have a dash."""
    names = [verdict.fix for verdict in max(cases, key=lambda case: len(case.rows)).rows] if cases else []
    heads = _heads(cases)
    rows = []
    for name in names:
        cells = [_cell(case, name, name in required) for case in cases]
        rows.append(Row((name,), (*cells, *([_cost(costs.get(name))] if costs else []))))
    releases = dict.fromkeys(case.torch for case in cases if case.torch)
    title = "Fixes" if not releases else "Fixes on torch " + ", ".join(releases)
    return Table(title, ("fix",), (*heads, *(["cost"] if costs else [])), tuple(rows), _notes(heads, cases, costs))


def _heads(cases: Sequence[Judged]) -> list[str]:
    """What columns differ in: the case, the release, or both."""
    if len({case.torch for case in cases}) == 1:
        return [str(case.case) for case in cases]
    if len({str(case.case) for case in cases}) == 1:
        return [case.torch for case in cases]
    return [f"{case.case}, {case.torch}" for case in cases]


def _cell(case: Judged, name: str, required: bool) -> Cell:
    verdict = next((row for row in case.rows if row.fix == name), None)
    if verdict is None:
        return Cell("-", "plain", "not for this scenario")
    short = required and verdict.verdict != "holds"
    return Cell(verdict.verdict, _KIND[verdict.verdict], _behind(verdict), "required: holds" if short else "")


def _behind(verdict: Verdict) -> str:
    token = f" Token: {to_token(verdict.failing)}" if verdict.failing else ""
    return f"{_sentence(verdict.why)} {verdict.schedules} schedules, {verdict.points} points: {_sentence(verdict.rests_on)}{token}"


def _sentence(words: str) -> str:
    return words if words.endswith(".") else words + "."


def _cost(ratio: float | None) -> Cell:
    if ratio is None:
        return Cell("-")
    return Cell(f"{max(0.0, 1 / ratio - 1):.0%}", "plain", f"{ratio:.3f} of the warm compiled calls a second without it")


def _notes(heads: Sequence[str], cases: Sequence[Judged], costs: Mapping[str, float]) -> tuple[str, ...]:
    notes = [f"{head}: {case.control}" for head, case in zip(heads, cases, strict=True)]
    notes += [
        f"{head}: {verdict.fix}: {verdict.why}"
        for head, case in zip(heads, cases, strict=True) for verdict in case.rows
        if verdict.verdict == "untested" and not verdict.schedules
    ]  # fmt: skip
    for head, case in zip(heads, cases, strict=True):
        open_ = [verdict.fix for verdict in case.rows if verdict.verdict == "untested" and verdict.schedules]
        if open_:
            notes.append(f"{head}: untested, since a limit ended the search or nothing fails there: {', '.join(open_)}")
    if costs:
        notes.append("cost: how much longer a warm compiled call of a tiny function takes (backend eager), measured here")
    return tuple(notes)
