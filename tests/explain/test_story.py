"""The lanes say what happened, and the nearest schedule that passes was run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.failing import BOUGHT, COLLECTED, HALF, LOCKED, LOST, SAVED, launcher
from support.inline import at
from support.programs import write

from harness.explain import Event, Story, html, markdown, nearest_pass, tell, text
from harness.explain.account import account, difference, proof
from harness.explain.cause import candidates
from harness.explain.events import shortened
from harness.explain.words import sentence
from harness.run.job import Job
from harness.run.report import Report
from harness.schedule import Directive, Schedule
from harness.verdict.why import cause_of


def test_the_lanes_of_a_state_saved_and_restored(saved: Story) -> None:
    told = [(e.lane, e.kind, e.value or e.to) for e in saved.events]
    assert told == [
        ("T0", "start", ""),
        ("T0", "read", "True"),
        ("T0", "write", "False"),
        ("T0", "hand over", "T1"),
        ("T1", "start", ""),
        ("T1", "read", "False"),
        ("T1", "write", "False"),
        ("T1", "hand over", "T0"),
        ("T0", "write", "True"),
        ("T0", "end", ""),
        ("T0", "hand over", "T1"),
        ("T1", "write", "False"),
        ("T1", "end", ""),
        ("", "leak", ""),  # what the scenario checks
        ("", "leak", ""),  # and the state that is not what it was
    ]
    assert [(e.lane, e.kind) for e in saved.events if e.key] == [("T0", "write"), ("T1", "read"), ("", "leak")]
    assert [e.asked for e in saved.events if e.kind == "hand over"] == [True, True, False]
    assert saved.roles == {"T0": "quietly", "T1": "quietly"}


def test_an_access_has_its_own_line(saved: Story) -> None:
    for event in saved.events:
        if event.kind in ("read", "write"):
            assert "verbose" in Path(event.file).read_text().splitlines()[event.line - 1]


def test_an_object_that_threads_share(lost: Story) -> None:
    assert [(e.lane, e.kind, e.value) for e in lost.events if e.file] == [
        ("T1", "read", "0"),
        ("T0", "read", "0"),
        ("T0", "write", "1"),
        ("T1", "write", "1"),
    ]
    assert "They share an object of the class Counter" in " ".join(account(lost))


MIXED = """
import threading
def body(log):
    log.append(threading.current_thread().name)
    marker("between")
    log.append(threading.current_thread().name)
def check(log, results):
    assert log[0] == log[1], "mixed"
scenario = Scenario([body, body], setup=lambda axes: [], check=check)
"""


def test_without_a_state_the_points_of_the_own_code_are_drawn(tmp_path: Path) -> None:
    schedule = Schedule(write(tmp_path, MIXED, "mixed"), 2, directives=(at("T0", "marker:between", "T1"),))
    with launcher(schedule) as runner:
        report = runner.run(Job(schedule, detail=True))
    found = tell(schedule, report, None).events
    assert ("T0", "is at between") in [(e.lane, e.text) for e in found if e.asked]
    assert ("T1", "enters mixed.body") in [(e.lane, e.text) for e in found]


EARLY = """
ready = False
value = None
def put(shared):
    global ready, value
    ready = True
    value = compute()
def compute():
    return 42
def take(shared):
    if ready:
        assert value is not None, "used before it was set"
scenario = Scenario([put, take])
"""


def test_a_read_that_is_as_usual_but_too_early_is_told_with_what_it_leads_to(tmp_path: Path) -> None:
    schedule = Schedule(write(tmp_path, EARLY, "early"), 2, directives=(at("T0", "write:early.ready", "T1"),))
    with launcher(schedule) as runner:
        report, cause = cause_of(runner, schedule)
    assert cause is not None
    assert sentence(cause, report) == (
        "T0 set early.ready to True; T1 read True, too early: early.value was None then (undisturbed: 42)"
    )
    told = tell(schedule, report, cause)
    assert [(e.state, e.value) for e in told.events if e.key and e.kind == "read"] == [
        ("early.ready", "True"), ("early.value", "None"),
    ]  # fmt: skip
    assert "Undisturbed it would read 42." in " ".join(account(told))


def _cause(tmp_path: Path, source: str, name: str, threads: int, *directives: Directive) -> str:
    schedule = Schedule(write(tmp_path, source, name), threads, directives=directives)
    with launcher(schedule) as runner:
        report, cause = cause_of(runner, schedule)
        assert report.failed, report.message
        assert tell(schedule, report, cause).cause is cause
        return sentence(cause, report)


SIGNALLED = """
class Job:
    def __init__(self):
        self.done, self.result = threading.Event(), None
def compute():
    return [1, 2, 3]
def produce(job):
    job.done.set()
    job.result = compute()
def consume(job):
    job.done.wait()
    return len(job.result)
scenario = Scenario([consume, produce], setup=lambda axes: Job())
"""


def test_what_an_instruction_that_raised_had_read_counts(tmp_path: Path) -> None:
    told = _cause(tmp_path, SIGNALLED, "signalled", 2, at("T1", "unlock:signalled.produce", "T0", 2))
    assert told == "T0 read signalled.Job:result as None before T1 set it to list of 3 (undisturbed: list of 3)"


TWICE = """
class Handle:
    closed, closes = False, 0
    def close(self):
        if self.closed:
            return
        self.release()
        self.closed = True
    def release(self):
        self.closes += 1
        assert self.closes == 1, "closed twice"
scenario = Scenario([Handle.close, Handle.close], setup=lambda axes: Handle())
"""


def test_a_check_that_both_pass(tmp_path: Path) -> None:
    told = _cause(tmp_path, TWICE, "twice", 2, at("T0", "read:twice.Handle:closed", "T1"))
    assert "T1 read twice.Handle:closed as False" in told or "closes" in told


def _access(at: int, thread: str, kind: str, value: int) -> dict[str, Any]:
    return {"at": at, "thread": thread, "kind": kind, "state": "m.C:value", "n": 1, "value": str(value), "of": 1}


def test_a_lost_update_comes_before_what_main_reads_of_it() -> None:
    both = [_access(1, "T0.1", "read", 0), _access(2, "T0.2", "read", 0), _access(3, "T0.2", "write", 1), _access(4, "T0.1", "write", 1)]
    disturbed = Report("error", accesses=[*both, _access(5, "T0", "read", 1)])
    usual = Report(accesses=[_access(5, "T0", "read", 2)])
    first = candidates(replace(disturbed, log=[("T0", "end", 0)] * 6), usual)[0]
    assert sentence(first, disturbed) == "T0.1 wrote m.C:value = 1, worked out from 0, which T0.2 had replaced by 1"


def test_a_cause_that_no_run_has_proved_is_called_the_likeliest(saved: Story) -> None:
    assert saved.cause is not None
    story = replace(saved, cause=replace(saved.cause, proved=False))
    for render in (text.render, markdown.render, html.render):
        assert "the likeliest" in render(story)
        assert "the likeliest" not in render(replace(story, cause=replace(saved.cause, proved=True)))


def test_a_deadlock_shows_who_waits(locked: Story) -> None:
    assert [e.lane for e in locked.events if e.kind == "wait"] == ["T0", "T1"]
    assert not [e for e in locked.events if e.kind == "end"]


def test_the_story_of_a_compiled_call(warm: Story) -> None:
    keys = [(e.lane, e.kind) for e in warm.events if e.key]
    assert keys == [("T0", "write"), ("T1", "read"), ("T1", "fail")]
    assert proof(warm)
    sentences = " ".join(account(warm))
    assert "It belongs to the process, not to a thread" in sentences
    assert "the value is T0's, not its own. Undisturbed it would read False." in sentences


@pytest.mark.parametrize("schedule", [LOST, SAVED, BOUGHT, HALF, LOCKED, COLLECTED], ids=lambda s: Path(s.scenario).stem)
def test_the_nearest_schedule_passes_and_differs_in_one_directive(schedule: Schedule) -> None:
    with launcher(schedule) as runner:
        report, cause = cause_of(runner, schedule)
        found = nearest_pass(runner, schedule, report, cause)
        assert report.failed
        assert found is not None
        again = runner.run(Job(found.schedule))
    assert again.outcome == "ok"
    assert again.void == 0
    assert not again.unused
    ours, theirs = set(schedule.directives), set(found.schedule.directives)
    assert ours - theirs == {found.directive}
    assert theirs - ours == ({found.instead} if found.instead else set())


ALWAYS = """
def body(shared):
    marker("a")
    marker("b")
    raise ValueError("always")
scenario = Scenario([body, lambda shared: marker("c")])
"""


def test_none_passes_where_it_always_fails(tmp_path: Path) -> None:
    schedule = Schedule(write(tmp_path, ALWAYS), 2, directives=(at("T0", "marker:a", "T1"),))
    with launcher(schedule) as runner:
        report, cause = cause_of(runner, schedule)
        assert nearest_pass(runner, schedule, report, cause) is None


def test_the_difference_in_words(saved: Story) -> None:
    text = difference(saved)
    assert "it passes where T1 hands over to T0 after" in text or "it passes where T0 hands over to T1 after" in text
    assert "and not after write:save_restore_global.verbose" in text


def test_what_is_left_out_is_counted() -> None:
    reads = [Event(i, "T0", "read", value=str(i)) for i in range(200)]
    events = [Event(0, "T0", "start"), *reads[:100], Event(50, "T0", "hand over", to="T1", asked=True), *reads[100:]]
    found = shortened(events, 20)
    assert len(found) <= 20
    assert sum(e.times for e in found) == len(events)
    assert shortened(events[:5], 20) == events[:5]
