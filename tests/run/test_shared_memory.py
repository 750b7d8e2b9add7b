"""Memory that a fork shares: what one run does to it, the next one and one beside it do not see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.programs import write

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

SHARED = """
import mmap, multiprocessing

class Kept:
    def __init__(self, axes=None):
        self.lock = multiprocessing.Lock()
        self.count = multiprocessing.Value("i", 0, lock=False)
        self.page = mmap.mmap(-1, 4096)

kept = Kept()

def leave(shared):
    free = shared.lock.acquire(block=False)
    shared.count.value += 1
    shared.page[0] += 1
    return [free, shared.count.value, shared.page[0]]

def child(shared):
    process = multiprocessing.Process(target=leave, args=(shared,))
    process.start()
    process.join()
    return shared.count.value

{scenario}
"""
WHERE = {
    "module": "scenario = Scenario([{body}], setup=lambda axes: kept, threads=(1, 1))",
    "set-up": "scenario = Scenario([{body}], setup=Kept, fork_after_setup=True, threads=(1, 1))",
}


def results(folder: Path, where: str, body: str) -> list[object]:
    reference = write(folder, SHARED.format(scenario=WHERE[where].format(body=body)))
    with Launcher(reference, jobs=2) as launcher:
        numbers = [launcher.start(Job(Schedule(reference, 1))) for _ in range(4)]
        return [launcher.wait(number).results for number in numbers]


@pytest.mark.parametrize("where", WHERE)
def test_each_run_has_its_own(tmp_path: Path, where: str) -> None:
    assert results(tmp_path, where, "leave") == [[[True, 1, 1]]] * 4


@pytest.mark.parametrize("where", WHERE)
def test_the_processes_of_a_run_share_it(tmp_path: Path, where: str) -> None:
    assert results(tmp_path, where, "child") == [[1]] * 4


FILES = """
import mmap, os, sys
from harness.run import memory

private = os.memfd_create("private")
os.ftruncate(private, 8192)
first, second = mmap.mmap(private, 4096), mmap.mmap(private, 4096, offset=4096)
looked = mmap.mmap(private, 8192, prot=mmap.PROT_READ)
named = open(sys.argv[1], "w+b")
named.truncate(4096)
seen = mmap.mmap(named.fileno(), 4096)
second[7] = 5
lent = os.memfd_create("lent")
os.ftruncate(lent, 4096)
only_read = mmap.mmap(lent, 4096, prot=mmap.PROT_READ)
code = os.memfd_create("code")
os.ftruncate(code, 4096)
filled, run = mmap.mmap(code, 4096), mmap.mmap(code, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
found = memory.shared()
assert len(found) == 3, found
child = os.fork()
if not child:
    memory.own(found)
    first[0] = second[0] = seen[0] = 9
    assert os.pread(private, 1, 0) == os.pread(private, 1, 4096) == b"\\x09", "by its descriptor it is the same"
    assert (looked[0], looked[4096], looked[4096 + 7]) == (9, 9, 5)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert (first[0], second[0], seen[0]) == (0, 0, 9)
"""


def test_a_file_without_a_name_is_copied_with_its_descriptors_and_one_with_a_name_stays(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FILES, str(tmp_path / "named")], check=True, timeout=60)
