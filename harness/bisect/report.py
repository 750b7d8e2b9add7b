"""What a bisect came to: as Markdown for an upstream issue, as text, as plain data."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from packaging.version import Version

from harness.schedule import from_token

from .question import Question
from .search import Found
from .step import Step

_COMPARE = "https://github.com/pytorch/pytorch/compare/{}...{}"


def title(question: Question, found: Found) -> str:
    """``fixed in torch 2.14.0: still there in 2.13.0``"""
    new, old = found.first_new.torch, found.last_old.torch
    untested = not_tested(question, found)
    if untested:
        return f"{found.kind} after torch {old}, in {new} at the latest (between them, not tested: {', '.join(untested)})"
    at_hand = " (of the releases at hand)" if question.cached else ""
    return f"{found.kind} in torch {new}: {'still there' if found.kind == 'fixed' else 'not yet there'} in {old}{at_hand}"


def not_tested(question: Question, found: Found) -> list[str]:
    """Releases between the two that the answer names, in order."""
    low, high = (question.releases.index(step.torch) for step in (found.last_old, found.first_new))
    skipped = list(question.releases[low + 1 : high])
    out = [v for v in question.left_out if Version(found.last_old.torch) < Version(v) < Version(found.first_new.torch)]
    return sorted([*skipped, *out], key=Version)


def failing(found: Found) -> Step:
    """The step at the boundary that has the failure."""
    return found.last_old if found.kind == "fixed" else found.first_new


def rate(steps: Mapping[str, Step]) -> tuple[float, float]:
    """(least share of runs that failed where the failure is there, chance that a release passed with it all the same)"""
    least = min((s.failed / s.times for s in steps.values() if s.result == "present" and s.times), default=1.0)
    fewest = min((s.times for s in steps.values() if s.result == "absent" and s.times), default=0)
    return least, (1 - least) ** fewest if fewest else 0.0


def as_json(question: Question, steps: Mapping[str, Step], found: Found) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "last_old": found.last_old.torch,
        "first_new": found.first_new.torch,
        "exact": not question.cached and not not_tested(question, found),
        "not_tested": not_tested(question, found),
        "signature": failing(found).signature,
        "token": failing(found).token,
        "commits": {"last_old": found.last_old.git, "first_new": found.first_new.git},
        "tested": [step.to_json() | {"word": step.word} for step in in_order(question, steps)],
        "left_out": question.left_out,
    }


def in_order(question: Question, steps: Mapping[str, Step]) -> list[Step]:
    return [steps[release] for release in question.releases if release in steps]


def text(question: Question, steps: Mapping[str, Step], found: Found, log: str) -> str:
    lines = [f"{question.target}: {title(question, found)}"]
    if signature := failing(found).signature:
        lines.append(f"failure   {signature}")
    for step in in_order(question, steps):
        unsteady = "" if step.steady else "  NOT deterministic"
        lines.append(f"{step.torch:12} {step.word:8} {step.why[:150]}{unsteady}")
        if step.token:
            schedule = from_token(step.token)
            lines += [f"{'':22}{directive}" for directive in schedule.directives] or [f"{'':22}no switch at all"]
        lines += [f"{'':22}other: {other}" for other in step.others]
    for release, why in question.left_out.items():
        lines.append(f"{release:12} not tested: {why}")
    for name, step in (("last old", found.last_old), ("first new", found.first_new)):
        lines.append(f"{name:9} torch {step.torch}  {step.git or 'commit unknown'}")
    lines += _unsteady(steps)
    if token := failing(found).token:
        lines.append(f"replay    harness replay {token} --torch {failing(found).torch}")
    return "\n".join([*lines, f"log       {log}"])


def _unsteady(steps: Mapping[str, Step]) -> list[str]:
    least, chance = rate(steps)
    if least == 1.0:
        return []
    if not chance:
        return [f"Where it is there, as few as {least:.0%} of the runs of its schedule failed."]
    return [f"Where it is there, as few as {least:.0%} of the runs failed: a release that has it passes with probability {chance:.2g}."]


def markdown(
    question: Question, steps: Mapping[str, Step], found: Found, script: str = "", pulls: Sequence[str] = ()
) -> str:
    """Ready for an issue: what, since when, which commits, how to reproduce it, on what that rests."""
    bad = failing(found)
    what = _code(bad.signature) if bad.signature else _code(question.target)
    lines = [f"# {title(question, found)[0].upper()}{title(question, found)[1:]}", "", what, ""]
    if bad.message and bad.message != bad.signature:
        lines += ["```", bad.message, "```", ""]
    old, new = found.last_old, found.first_new
    lines += ["| | torch | build | commit |", "|---|---|---|---|"]
    for name, step in (("last release before", old), ("first release after", new)):
        lines.append(f"| {name} | {step.torch} | {step.build or step.torch} | {_code(step.git) if step.git else 'unknown'} |")
    if old.git and new.git and old.git != new.git:
        lines += ["", f"All that lies between: {_COMPARE.format(old.git, new.git)}"]
    if pulls:
        lines += ["", "Likely pull requests:", "", *(f"- {pull}" for pull in pulls)]
    lines += ["", "## Steps to reproduce", ""]
    if bad.token:
        lines += ["```", f"harness replay {bad.token} --torch {bad.torch}", "```"]
        lines += ["", f"Smallest schedules, {question.kind} `{_plain(question.target)}`:", ""]
        for step in in_order(question, steps):
            if step.token:
                schedule = from_token(step.token)
                order = "; ".join(map(str, schedule.directives)) or "no switch at all"
                lines.append(f"- torch {step.torch}: T{schedule.first} starts; {_plain(order)}")
    else:
        lines += ["```", question.target, "```"]
    if script and not script.startswith("# "):
        lines += ["", "<details><summary>A script that needs torch alone</summary>", "", "````python", script.rstrip(), "````", "", "</details>"]
    elif script:
        lines += ["", f"No stand-alone script: {script[2:].strip()}"]
    lines += ["", "## Releases tested", "", "| torch | result | on what it rests | other failures |", "|---|---|---|---|"]
    for step in in_order(question, steps):
        others = "; ".join(map(_code, step.others))
        unsteady = "" if step.steady else " **Not deterministic.**"
        lines.append(f"| {step.torch} | {step.word} | {_plain(step.why)}{unsteady} | {others} |")
    lines += [f"| {release} | not tested | {_plain(why)} | |" for release, why in question.left_out.items()]
    lines += ["", *_unsteady(steps)] if _unsteady(steps) else []
    lines += ["", "## Environment", "", f"- Python {question.python} in every environment", f"- {platform.platform()}"]
    return "\n".join(lines) + "\n"


def _code(words: str) -> str:
    return "`" + " ".join(words.split()).replace("`", "'").replace("|", "\\|") + "`"


def _plain(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|").replace("<", "&lt;")
