"""A run's outcome must be that of some order of the threads."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from support.inline import at
from support.programs import write

from harness.errors import UserError
from harness.oracles.orders import orders
from harness.run.inline import InlineRunner
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.scenario import Scenario
from harness.schedule import Schedule
from harness.search import Exploration, explore

LOST = """
class Box:
    def __init__(self, axes):
        self.n = 0
def work():
    return 1
def body(box):
    n = box.n
    work()
    box.n = n + 1
    return {returned}
scenario = Scenario([body, body], setup=Box{more})
"""


def search(folder: Path, source: str) -> Exploration:
    with InlineRunner(write(folder, source)) as runner:
        return explore(runner, Schedule("s", runner.about["threads"][0]), budget=60, stop=lambda s, r: False)


def kinds(found: Exploration) -> set[str]:
    return {report.signature for _, report in found.failures}


def test_a_lost_update_needs_no_check(tmp_path: Path) -> None:
    assert kinds(search(tmp_path, LOST.format(returned="None", more=""))) == {"no sequential order gives this: shared"}


def test_results_count_too(tmp_path: Path) -> None:
    found = search(tmp_path, LOST.format(returned="box.n", more=""))
    assert kinds(found) == {"no sequential order gives this: results, shared"}
    message = next(report.message for _, report in found.failures)
    assert "T0 then T1" in message
    assert "T1 then T0" in message


@pytest.mark.parametrize("more", [", sequential=False", ", check=lambda box, results: None"])
def test_it_can_be_left_out(tmp_path: Path, more: str) -> None:
    assert not search(tmp_path, LOST.format(returned="None", more=more)).failures


def test_it_can_be_had_beside_a_check(tmp_path: Path) -> None:
    assert search(tmp_path, LOST.format(returned="None", more=", sequential=True, check=lambda b, r: None")).failures


def test_either_order_will_do(tmp_path: Path) -> None:
    found = search(tmp_path, """
def body(log):
    log.append(thread_index())
def seen(log):
    return list(log)
scenario = Scenario([body, body], setup=lambda axes: [], probes=[seen])
""")  # fmt: skip
    assert not found.failures
    assert found.schedules > len(found.controls)


def test_threads_that_wait_for_each_other_have_no_order(tmp_path: Path) -> None:
    source = """
class Shared:
    def __init__(self, axes):
        self.barrier, self.log = threading.Barrier(2), []
def body(shared):
    shared.log.append(1)
    shared.barrier.wait()
    shared.log.append(thread_index())
    return len(shared.log)
scenario = Scenario([body, body], setup=Shared{more})
"""
    assert not search(tmp_path, source.format(more="")).failures
    assert search(tmp_path, source.format(more=", sequential=True")).failures


def test_a_function_patched_under_its_own_name_shows(tmp_path: Path) -> None:
    found = search(tmp_path, """
import functools
def plain():
    return 1
function = plain
def setup(axes):
    global function
    function = plain
def patch(shared):
    global function
    saved = function
    def wrapper():
        return saved()
    function = functools.wraps(saved)(wrapper)
    marker("patched")
    function = saved
scenario = Scenario([patch, patch], setup=setup)
""")  # fmt: skip
    assert any("function" in signature for signature in kinds(found))


def test_a_container_that_is_empty_at_other_times(tmp_path: Path) -> None:
    (tmp_path / "library_of_stacks.py").write_text(
        dedent("""
        STACK, LEFT = [], []
        def push(x):
            STACK.append(x)
            pause()
            STACK.clear()
        def pause():
            pass
        def late():
            if STACK:
                LEFT.append(1)
        """)
    )
    found = search(tmp_path, f"sys.path.insert(0, {str(tmp_path)!r})" + """
import library_of_stacks
def setup(axes):
    library_of_stacks.LEFT.clear()
def one(shared):
    library_of_stacks.push(1)
def two(shared):
    library_of_stacks.late()
scenario = Scenario([one, two], setup=setup, modules=["library_of_stacks"])
""")  # fmt: skip
    signatures = kinds(found)
    assert signatures == {"no sequential order gives this: containers that were empty"}
    assert {report.outcome for _, report in found.failures} == {"state leaked"}


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_there_is_a_schedule_for_each_order(tmp_path: Path, threads: int) -> None:
    source = "def body(log):\n    log.append(thread_index())\n    return list(log)\nscenario = Scenario([body], setup=lambda axes: [])\n"
    with InlineRunner(write(tmp_path, source)) as runner:
        seen = set()
        for schedule in orders(Schedule("s", threads)):
            report = runner.run(Job(schedule))
            assert not report.unused
            seen.add(tuple(max(report.results, key=len)))
    assert len(seen) == [1, 1, 2, 6, 24][threads]


def test_in_fresh_processes_and_on_replay(tmp_path: Path) -> None:
    reference = write(tmp_path, LOST.format(returned="None", more=""))
    with Launcher(reference) as launcher:
        found = explore(launcher, Schedule(reference, 2), budget=60)
        schedule, report = found.failures[0]
        assert report.outcome == "wrong value"
    with Launcher(reference) as launcher:
        again = [seen.signature for _, seen in launcher.map([Job(schedule)] * 3)]
    assert again == [report.signature] * 3


IN_A_THREAD = """
import contextvars
limit = contextvars.ContextVar("limit", default=8)
def setup(axes):
    limit.set({wanted})
def body(shared):
    return limit.get()
scenario = Scenario([body], setup=setup, sequential="main")
"""


@pytest.mark.parametrize(("wanted", "differs"), [(16, True), (8, False)])
@pytest.mark.parametrize("forked", [False, True])
def test_being_in_a_thread_may_make_no_difference(tmp_path: Path, wanted: int, differs: bool, forked: bool) -> None:
    source = IN_A_THREAD.format(wanted=wanted)
    if not forked:
        found = kinds(search(tmp_path, source))
    else:
        with Launcher(write(tmp_path, source), jobs=1) as launcher:
            report = launcher.run(Job(Schedule("s", 1)))
            found = {report.signature} - {""}
    assert found == ({"no sequential order in the main thread gives this: results"} if differs else set())


def test_in_main_too_either_order_will_do(tmp_path: Path) -> None:
    source = LOST.format(returned="box.n", more=", sequential='main', threads=(2, 2)")
    assert kinds(search(tmp_path, source)) == {"no sequential order in the main thread gives this: results, shared"}


COLLECTED = """
from harness.garbage import plant
import gc
class Log:
    def __init__(self, axes):
        self.deaf, self.heard = False, 0
        plant("finalizer", self.hear)
    def hear(self):
        self.heard += not self.deaf
def body(log):
    marker("before")
    log.deaf = True
    marker("deaf")
    log.deaf = False
    gc.collect()
    return log.heard
scenario = Scenario([body], setup=Log, sequential={how})
"""


@pytest.mark.parametrize(("how", "where", "differs"), [
    ("'collected'", "deaf", True), ("'collected'", "before", False), ("True", "deaf", False),
])  # fmt: skip
def test_when_garbage_is_collected_may_make_no_difference(tmp_path: Path, how: str, where: str, differs: bool) -> None:
    with InlineRunner(write(tmp_path, COLLECTED.format(how=how))) as runner:
        report = runner.run(Job(Schedule("s", 1, directives=(at("T0", f"marker:{where}", 2),))))
    assert report.collections[0].ran
    assert report.collected_itself
    assert report.signature.startswith("no sequential order gives this: results") is differs, report.message


def test_how_orders_are_compared_is_one_of_five() -> None:
    with pytest.raises(ValueError, match="'maine': True, False, 'main', 'collected' or values of axes"):
        Scenario([print], sequential="maine")  # type: ignore[arg-type]


def test_bodies_that_main_cannot_run_are_a_mistake(tmp_path: Path) -> None:
    source = IN_A_THREAD.format(wanted=16).replace("return limit.get()", "assert limit.get() == 8, 'not here'")
    with pytest.raises(UserError, match="no order of the bodies passes in the main thread: AssertionError: not here"):
        search(tmp_path, source)


AXES = """
class Box:
    def __init__(self, axes):
        self.far = axes["where"] == "far"
def body(box):
    return {returned}
scenario = Scenario([body], setup=Box, axes={{"where": ["far", "here"]}}, threads=(1, 1), sequential={{"where": "here"}})
"""


def test_an_axis_must_make_no_difference(tmp_path: Path) -> None:
    assert kinds(search(tmp_path, AXES.format(returned="box.far"))) == {"no sequential order with where=here gives this: results"}


def test_what_set_up_makes_of_the_axis_is_no_difference(tmp_path: Path) -> None:
    assert not kinds(search(tmp_path, AXES.format(returned="True")))


def test_no_axis_at_all() -> None:
    with pytest.raises(ValueError, match="values of which axes"):
        Scenario([len], sequential={})


def test_an_axis_that_is_none() -> None:
    with pytest.raises(ValueError, match="where='near' is no value of an axis"):
        Scenario([len], axes={"where": ["far", "here"]}, sequential={"where": "near"})
