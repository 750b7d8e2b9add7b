"""``harness order`` over real test files: what it finds, what it prints, and that what it prints fails when it is pasted."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.pollution import FEW, Asked, ask, planted, shell

from harness.order.child import Child


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> object:
    return lambda **files: ask(tmp_path, capsys, monkeypatch, **files)


def test_an_ordered_pair(asked) -> None:
    made = planted("ordered pair", 12, Random(5))
    status, found, said = asked(test_it=made.text)()
    assert (status, found["kind"], found["test"]) == (1, "order", made.victim)
    assert (tuple(found["before"]), found["ordered"]) == (made.culprits, [list(made.culprits)])
    assert (found["plain"], found["verified"], found["times"]) == (True, 1, 1)
    assert found["signature"] == "AssertionError: assert <n> not in <...> [" + made.victim.partition("::")[2] + "]"
    assert found["command"] == " ".join(["pytest -q", *made.culprits, made.victim])
    assert "1 failed, 2 passed" in shell(found["command"])
    assert len(said) == found["runs"]
    assert "enough" not in found["evidence"][-1]


def test_garbage_of_an_earlier_test(asked) -> None:
    """It does not fail as it is run, and is not named: a fork at each line finds the place."""
    made = planted("garbage", 20, Random(2))
    status, found, _ = asked(test_it=made.text)()
    assert (status, found["kind"], found["test"]) == (1, "order and GC", made.victim)
    assert tuple(found["before"]) == made.culprits
    assert found["says"].startswith(f"the garbage of {made.culprits[0]} is collected in {made.victim} (at test_it.py:")
    assert found["evidence"][-3:] == [
        "the garbage never collected: passed",
        "the garbage collected after each test: passed",
        "the garbage out of the collector's sight when the test begins: passed",
    ]
    assert (found["plain"], found["verified"]) == (False, 1)
    assert "1 failed, 1 passed" in shell(found["command"])


def test_garbage_that_is_still_there(asked) -> None:
    text = """
import gc, weakref
living = weakref.WeakSet()
class Session:
    def __init__(self):
        self.me = self
def test_a(): pass
def test_b(): living.add(Session())
def test_c(): pass
def test_d(): assert len(living) == 0
"""
    status, found, _ = asked(test_it=text)()
    assert (status, found["kind"], found["gc"]) == (1, "order and GC", "off")
    assert found["before"] == ["test_it.py::test_b"]
    assert found["says"] == "the garbage of test_it.py::test_b is still there in test_it.py::test_d"
    assert "1 failed, 1 passed" in shell(found["command"])


def test_a_collection_alone(asked) -> None:
    """Whatever ran before: its own garbage, collected too early."""
    text = """
import weakref
class Node:
    def __init__(self):
        self.me = self
def test_a(): pass
def test_b():
    node = weakref.ref(Node())
    x = 1
    assert node() is not None
"""
    status, found, _ = asked(test_it=text)(options=(*FEW, "--test", "test_it.py::test_b"))
    assert (status, found["kind"], found["before"], found["gc"]) == (1, "GC timing", [], "at=test_it.py:9#1")
    assert "1 failed" in shell(found["command"])


def test_a_test_that_needs_another(asked) -> None:
    text = "ready = []\ndef test_a(): pass\ndef test_b(): ready.append(1)\ndef test_c(): pass\ndef test_d(): assert ready\n"
    status, found, _ = asked(test_it=text)(options=(*FEW, "--test", "test_it.py::test_d"))
    assert (status, found["kind"], found["needs"]) == (1, "order", True)
    assert (found["before"], found["says"]) == (["test_it.py::test_b"], "test_it.py::test_d passes after test_it.py::test_b, and fails alone")
    assert "2 passed" in shell(found["command"])


def test_an_import_is_enough(asked) -> None:
    files = {"lib": "state = []\n", "test_one": "import lib\nlib.state.append(1)\ndef test_a(): pass\n"}
    status, found, _ = asked(**files, test_two="import lib\ndef test_b(): assert not lib.state\n")()
    assert (status, found["kind"], found["before"]) == (1, "order", ["test_one.py::test_a"])
    assert found["evidence"][-1] == "it is enough that test_one.py is imported: then it fails with no test before it"
    assert "1 failed, 1 passed" in shell(found["command"])


def test_an_import_of_a_file_behind_it(asked) -> None:
    files = {"lib": "state = []\n", "test_a": "def test_a(): pass\n", "test_c": "def test_c(): pass\n"}
    files["test_b"] = "import lib\ndef test_b(): assert not lib.state\n"
    files["test_d"] = "import lib\nlib.state.append(1)\ndef test_d(): pass\n"
    status, found, _ = asked(**files)()
    assert (status, found["kind"], found["before"]) == (1, "order", ["test_d.py::test_d"])
    assert found["says"] == "test_b.py::test_b fails when test_d.py is imported, and passes alone"
    assert found["command"] == "pytest -q test_b.py::test_b test_d.py::test_d"
    assert "1 failed, 1 passed" in shell(found["command"])


def test_ids_that_are_others_in_each_run(asked) -> None:
    text = """
import os, pytest
state = []
@pytest.mark.parametrize("n", [0, 1, 2], ids=lambda n: f"{n}-{os.getpid()}")
def test_a(n): state.append(n)
def test_b(): state.append("b")
def test_c(): assert 2 not in state or "b" not in state
"""
    status, found, _ = asked(test_it=text)(options=(*FEW, "--no-gc"))
    assert (status, found["kind"], found["command"]) == (1, "order", "")  # found, but no command can name it
    assert [test.partition("-")[0] for test in found["before"]] == ["test_it.py::test_a[2", "test_it.py::test_b"]


def test_no_dependence(asked) -> None:
    run = asked(test_it="def test_a(): pass\ndef test_b(): assert 0\n", test_good="def test_a(): pass\n")
    status, found, _ = run("test_it.py")
    assert (status, found["kind"], found["says"]) == (0, "none", "1 of 2 tests fail, and each of them alone too")
    status, found, _ = run("test_it.py", options=(*FEW, "--test", "test_it.py::test_b"), store="named")
    assert (status, found["says"]) == (0, "test_it.py::test_b: it fails alone, in 1 of 1 runs, and after all others too")
    status, found, _ = run("test_it.py", options=(*FEW, "--test", "test_it.py::test_a"), store="first")
    assert (status, found["kind"]) == (0, "none")
    assert "it does not fail" in found["says"]
    status, found, _ = run("test_good.py", store="good")
    assert (status, found["says"]) == (0, "none of 1 tests fails, nor when garbage is collected within it, or not at all")


def test_what_is_not_deterministic_is_not_judged(asked, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    text = f"""
from pathlib import Path
def test_a(): pass
def test_b():
    file = Path({str(counter)!r})
    count = int(file.read_text()) if file.exists() else 0
    file.write_text(str(count + 1))
    assert count % 2 == 0
"""
    run: Asked = asked(test_it=text)
    status, found, said = run(options=("--repeats", "2", "--test", "test_it.py::test_b", "--jobs", "1"))
    assert (status, found) == (125, {})
    assert "not deterministic: alone, it failed in" in said[-1]


def test_processes_that_end_and_tests_that_hang(asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the one that is looked at they are left out and named; a crash that only comes after others is a failure."""
    text = """
import os, signal, threading
state = []
def test_a(): state.append(1)
def test_close(tmp_path):  # what the plugin writes to, and another file gets its number
    links = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")}
    numbers = [int(fd) for fd, link in links.items() if link.endswith("/events")]
    assert numbers
    os.close(numbers[0])
    state.append(open(tmp_path / "file", "w"))
    assert state[-1].fileno() == numbers[0]
def test_b(): os._exit(3)
def test_c(): threading.Event().wait()
def test_d(): assert not state or os.fstat(state.pop().fileno()).st_size == 0
def test_e():
    if state: os.kill(os.getpid(), signal.SIGSEGV)
"""
    ended = Child.ended
    monkeypatch.setattr(Child, "ended", lambda child: ended(child) or child.last() == '{"start": "test_it.py::test_c"}')
    status, found, _ = asked(test_it=text)(options=(*FEW, "--no-gc", "--test", "test_it.py::test_e"))
    assert (status, found["kind"], found["before"]) == (1, "order", ["test_it.py::test_a"])
    assert found["signature"] == "the process ended: SIGSEGV"
    assert found["without"] == ["test_it.py::test_b (the process ended: status 3)", "test_it.py::test_c (hang)"]
    assert "Segmentation fault" in shell(found["command"])


def test_another_failure_is_named_and_does_not_count(asked) -> None:
    text = """
state = []
def test_a(): state.append("a")
def test_b(): state.append("b")
def test_c(): pass
def test_d():
    if state == ["b"]: raise KeyError("b")
    assert "b" not in state
"""
    status, found, said = asked(test_it=text)(options=(*FEW, "--no-gc"))
    assert (status, found["kind"], found["before"]) == (1, "order", ["test_it.py::test_a", "test_it.py::test_b"])
    assert "gc" not in " ".join(said)
    assert found["signature"].startswith("AssertionError: assert 'b' not in <...>")
    assert found["others"] == ["KeyError: 'b' [test_d] (after 2 lists)"]


def test_ids_for_a_shell_and_an_order_that_pytest_would_not_keep(asked) -> None:
    """pytest puts together what uses one parameter of a module's fixture; then the plugin is needed, and it is said."""
    text = """
import pytest
state = []
@pytest.fixture(scope="module", params=["it's", "$(id) [x]"])
def box(request): return request.param
def test_a(box): state.append(box)
def test_b(box): assert {needs}
def test_c(box): pass
"""
    shuffled = """
def pytest_collection_modifyitems(items):
    if len(items) > 3:
        items.sort(key=lambda item: ("test_b" in item.name, "it" not in item.name, item.name))
"""
    run = asked(test_it=text.format(needs="state[-1:] != ['$(id) [x]']"), conftest=shuffled)
    status, found, _ = run("-k", "not nothing", ".", options=(*FEW, "--no-gc"))
    assert (status, found["test"], found["before"]) == (1, "test_it.py::test_b[it's]", ["test_it.py::test_a[$(id) [x]]"])
    assert found["plain"] is True
    assert "1 failed, 1 passed" in shell(found["command"])
    (run.folder / "project" / "test_it.py").write_text(text.format(needs='state != ["it\'s", "$(id) [x]"]'))
    status, found, said = run("-k", "not nothing", ".", options=(*FEW, "--no-gc"))
    assert "begun anew" in said[0]
    assert (status, found["before"]) == (1, ["test_it.py::test_a[it's]", "test_it.py::test_a[$(id) [x]]"])
    assert found["plain"] is False
    assert "1 failed, 2 passed" in shell(found["command"])


def test_unittest_and_class_scoped_fixtures_from_another_folder(asked, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
import unittest, pytest
opened = []
@pytest.fixture(scope="class")
def box():
    opened.append(1)
    yield
class TestIt:
    def test_a(self, box): pass
    def test_b(self): pass
class TestOld(unittest.TestCase):
    def test_z(self):
        self.assertEqual(opened, [])
"""
    run = asked(test_it=text)
    project = run.folder / "project"
    (project / "deep").mkdir()
    (project / "pytest.ini").write_text("[pytest]\naddopts = -x\n")
    monkeypatch.chdir(project / "deep")
    status, found, _ = run("../test_it.py")
    assert (status, found["before"], found["test"]) == (1, ["test_it.py::TestIt::test_a"], "test_it.py::TestOld::test_z")
    assert found["signature"] == "AssertionError: Lists differ: <...> != [] [test_z]"
    assert found["command"].endswith("../test_it.py::TestIt::test_a ../test_it.py::TestOld::test_z")
    assert "1 failed, 1 passed" in shell(found["command"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "which tests?"),
        (("--", "no-such-program"), "no such program"),
        (("--", "true"), "ended with status 0 before a test was collected"),
        (("--", "pytest", "nothing.py"), "ended with status 4 before a test was collected: ERROR: file or directory not found: nothing.py"),
        (("--", "pytest", "--no-such"), "unrecognized arguments"),
        (("--", "pytest", "-k", "nothing"), "collects no test"),
        (("--", "pytest", "--collect-only"), "no test would run"),
        (("--test", "test_it.py::tset_a", "--", "pytest"), "none of the 2 tests that are collected (near it: test_it.py::test_a)"),
        (("--repeats", "0", "--", "pytest"), "whole number"),
        (("--", "pytest", "test_broken.py"), "test_broken.py: SyntaxError"),
    ],
)
def test_mistakes_are_one_line(asked, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str) -> None:
    from harness.cli.main import main

    run = asked(test_it="def test_a(): pass\ndef test_b(): pass\n")
    if "test_broken.py" in arguments:
        (run.folder / "project" / "test_broken.py").write_text("def\n")
    assert main(["order", "--store", str(run.folder / "store"), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("harness: ")
    assert err.count("\n") == 1
    assert says in err
