"""``gc.disable`` in a run: a directed collection waits for ``gc.enable``."""

from __future__ import annotations

import gc

from support.inline import Inline, at

from harness import marker
from harness.garbage import plant


def off_then_on(events: list[object]) -> None:
    gc.disable()
    marker("off")
    events.append(gc.isenabled())
    gc.enable()
    events.append(gc.isenabled())


def on_in_another_thread(events: list[object]) -> None:
    marker("other")
    gc.enable()
    marker("over")


def never_on(events: list[object]) -> None:
    gc.disable()
    marker("off")


def planted() -> list[object]:
    events: list[object] = []
    plant("finalizer", lambda: events.append("collected"))
    return events


def seen(events: list[object], results: object) -> None:
    assert not events, events


def test_it_takes_place_where_the_program_puts_it_on_again(inline: Inline) -> None:
    report = inline.run([off_then_on], at("T0", "marker:off", 2), make=planted, check=seen)
    assert report.message.endswith("[False, 'collected', True]")
    (made,) = report.collections
    assert (made.point, made.waited_for) == ("marker:off", "T0")


def test_control_where_the_program_leaves_it_on(inline: Inline) -> None:
    report = inline.run([on_in_another_thread], at("T0", "marker:other", 2), make=planted, check=seen)
    (made,) = report.collections
    assert (report.message.endswith("['collected']"), made.waited_for) == (True, "")


def test_in_the_thread_that_puts_it_on(inline: Inline) -> None:
    both = [off_then_on, on_in_another_thread]
    report = inline.run(both, at("T0", "marker:off", 2), at("T0", "marker:off", "T1"), make=planted, check=seen)
    (made,) = report.collections
    assert (made.thread, made.point, made.waited_for) == ("T0", "marker:off", "T1")


def test_where_it_stays_off_there_is_none(inline: Inline) -> None:
    report = inline.run([never_on], at("T0", "marker:off", 2), make=planted, check=seen)
    assert (report.outcome, report.collections) == ("ok", [])
    assert gc.isenabled(), "what the program did to the collector is not the test's"
