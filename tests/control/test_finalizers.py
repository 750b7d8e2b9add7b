"""A directed collection tells what it ran, and changes nothing by looking."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.inline import Inline, at

from harness import marker
from harness.control import collect
from harness.garbage import plant
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fail" / "finalizer_against_main.py"


pytestmark = pytest.mark.usefixtures("no_automatic_collection")


def called_back() -> None:
    pass


def ran_by(generation: int, *, of: str = "") -> list[dict[str, Any]]:
    ran: list[dict[str, Any]] = []
    collect.now(generation, ran)
    return [item for item in ran if of in item["function"]]


@pytest.mark.parametrize(
    ("planted", "kind", "function", "of"),
    [
        ("finalizer", "finalizer", "__del__", "harness.garbage.finalizer.Finalized"),
        ("weakref", "weakref callback", "died", "harness.garbage.weakref.Watched"),
        ("generator", "generator", "suspended", "suspended"),
    ],
)
def test_kind_function_and_object_are_named(planted: str, kind: str, function: str, of: str) -> None:
    plant(planted, called_back)
    (item,) = ran_by(2, of="harness.garbage")
    assert (item["kind"], item["type"]) == (kind, of)
    assert item["function"].endswith(function)
    assert item["file"].endswith(f"garbage/{planted}.py")
    assert item["calls"].endswith("called_back")


class Callback:
    def method(self, dead: object) -> None:
        pass


class Watched:
    def __init__(self) -> None:
        self.cycle = self


@pytest.mark.parametrize("make", [lambda: lambda *dead: None, lambda: Callback().method], ids=["args", "method"])
def test_any_form_of_a_weakref_callback(make: Callable[[], Any]) -> None:
    ref = weakref.ref(Watched(), make())
    (item,) = ran_by(2, of=__name__)
    assert (item["kind"], item["type"]) == ("weakref callback", f"{__name__}.Watched")
    assert ref() is None


def test_finalize_names_the_function_it_calls() -> None:
    weakref.finalize(Watched(), called_back)
    (item,) = ran_by(2, of="finalize")
    assert item["calls"].endswith("called_back")
    assert item["type"].endswith("Watched")


def test_looking_keeps_nothing_alive_and_restores_the_profile_function() -> None:
    watched = Watched()
    ref = weakref.ref(watched)
    del watched

    def profile(frame: object, event: str, arg: object) -> None:
        pass

    sys.setprofile(profile)
    try:
        collect.now(2, [])
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert ref() is None


def test_a_young_collection_leaves_the_old() -> None:
    held: list[Any] = [Watched()]
    gc.collect()
    ref = weakref.ref(held.pop(), lambda dead: None)
    assert ran_by(0, of=__name__) == []
    assert ref() is not None
    assert len(ran_by(2, of=__name__)) == 1


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    from support.inline import cooperative

    with cooperative(monkeypatch) as made:
        yield made


def test_what_a_finalizer_raises_is_its_own(inline: Inline) -> None:
    def broken() -> None:
        raise LookupError("in a finalizer")

    def body(shared: object) -> None:
        plant("finalizer", called_back)
        plant("finalizer", broken)
        marker("here")

    report = inline.run([body], at("T0", "marker:here", 2))
    (made,) = report.collections
    ours = [item for item in made.ran if "Finalized" in item["type"]]
    assert {item["calls"].rpartition(".")[2]: item["raised"] for item in ours} == {
        "called_back": "",
        "broken": "LookupError: in a finalizer",
    }
    assert report.message == "LookupError: in a finalizer"


def test_points_within_a_finalizer_are_passed() -> None:
    with Launcher(str(EXAMPLE)) as launcher:
        directive = at("T1", "call:finalizer_against_main.Lease.__init__", 2)
        report = launcher.run(Job(Schedule(str(EXAMPLE), 2, directives=(directive,))))
    (made,) = report.collections
    inside = {point for _, point, _ in report.log[made.at : made.until]}
    assert "call:finalizer_against_main.Lease.__del__" in inside
