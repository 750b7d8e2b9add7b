"""Arbitrary schedules for hypothesis, and mutated texts for fuzzing."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from harness.control.actions import Collect, HandOver
from harness.schedule import Directive, Schedule

_TEXT = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
_threads = st.from_regex(r"T[0-9]{1,3}(\.[0-9]{1,3}){0,4}", fullmatch=True)
_names = st.text(_TEXT, min_size=1, max_size=20).filter(
    lambda t: not any(c.isspace() or c in "@," for c in t)
)
_points = st.builds(
    lambda kind, name: f"{kind}:{name}", st.sampled_from(["read", "write", "line", "marker"]), _names
)
_actions = st.one_of(_threads.map(HandOver), st.integers(0, 2).map(Collect))
_directives = st.builds(
    Directive, _threads, st.one_of(_points, st.just("end")), st.integers(1, 10**9 - 1), _actions
)
_plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(_TEXT, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(_TEXT, max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
_axis_names = st.from_regex(r"[a-zA-Zé_][a-zA-Z0-9_]{0,9}", fullmatch=True).filter(
    lambda name: name not in ("threads", "first", "mode", "order")
)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    threads = draw(st.integers(1, 99))
    return Schedule(
        draw(st.text(_TEXT, max_size=30)),
        threads,
        draw(st.integers(0, threads - 1)),
        draw(st.booleans()),
        draw(st.dictionaries(_axis_names, _plain, max_size=3)),
        tuple(draw(st.lists(_directives, max_size=4))),
    )


EXAMPLE = Schedule(
    "folder with space/naïve, file.py:name=x@y",
    3,
    2,
    True,
    {"depth": 3, "kind": "a,b@c=d", "nested": [1, {"x": None}]},
    (
        Directive("T0", "write:package.module.STATE", 1, HandOver("T1")),
        Directive("T1.2", "line:module.Class.<locals>.f+12", 41, Collect(2)),
        Directive("T1", "end", 1, HandOver("T2")),
    ),
)

_BITS = [
    "",
    ",",
    "@",
    "=",
    "%",
    "%00",
    "%2C",
    "\n",
    "\0",
    "[" * 40,
    "}",
    '"',
    "null",
    "-1",
    "1e999",
    "9" * 5000,
    "T0",
    "gc9",
    "race2",
    "race1,",
    "mode=free",
    "first=1",
    "é",
    "\ud800",
    "__import__('os')",
    "true",
    "NaN",
]


def mutated(text: str, random: Random) -> str:
    """One to three edits: a piece cut out, doubled, moved, or one of the usual troublemakers put in."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        start = random.randint(0, len(text))
        end = min(len(text), start + random.choice((0, 1, 1, 2, 8, 60)))
        piece = text[start:end]
        choice = random.randrange(6)
        if choice == 0:
            new = ""
        elif choice == 1:
            new = piece * 2
        elif choice == 2:
            new = piece[::-1]
        elif choice == 3:
            new = chr(random.choice((random.randrange(128), random.randrange(0x3000))))
        elif choice == 4:
            new = random.choice(_BITS)
        else:
            text, start, end, new = text[: random.randint(0, len(text))], 0, 0, ""
        text = text[:start] + new + text[end:]
    return text
