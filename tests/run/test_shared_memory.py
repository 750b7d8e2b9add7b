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


QUEUE = """
import multiprocessing

queue = multiprocessing.Queue()
read, write = multiprocessing.Pipe(False)
write.send("before")

def put(shared):
    queue.put(1)
    write.send("a run's")
    return 0

def get(shared):
    got = []
    while read.poll(0):
        got.append(read.recv())
    return [queue.get(), got[0]]

scenario = Scenario([put, get, put], seconds=60.0)
"""


def test_what_one_run_leaves_in_a_pipe_is_not_there_in_the_next(tmp_path: Path) -> None:
    reference = write(tmp_path, QUEUE)
    with Launcher(reference, jobs=2) as launcher:
        numbers = [launcher.start(Job(Schedule(reference, 3))) for _ in range(6)]
        reports = [launcher.wait(number) for number in numbers]
    assert [report.results for report in reports] == [[0, [1, "before"], 0]] * 6
    assert len({report.digest for report in reports}) == 1


ON_DISK = """
import mmap, tempfile

file = tempfile.TemporaryFile()
file.write(b"x" * 8192)
file.flush()
page = mmap.mmap(file.fileno(), 4096)
large = mmap.mmap(-1, 1 << 27)
large[(1 << 27) - 1] = 7

def look(shared):
    return [os.fstat(file.fileno()).st_size, os.lseek(file.fileno(), 0, 1), page[0], large[(1 << 27) - 1]]

scenario = Scenario([look, look])
"""


def test_a_file_on_disk_and_much_memory_are_left_as_they_are(tmp_path: Path) -> None:
    reference = write(tmp_path, ON_DISK)
    with Launcher(reference, jobs=1) as launcher:
        assert launcher.run(Job(Schedule(reference, 2))).results == [[8192, 8192, ord("x"), 7]] * 2


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
os.ftruncate(private, 8200)
os.lseek(private, 77, 0)
lent = os.memfd_create("lent")
os.ftruncate(lent, 4096)
only_read = mmap.mmap(lent, 4096, prot=mmap.PROT_READ)
code = os.memfd_create("code")
os.ftruncate(code, 4096)
filled, run = mmap.mmap(code, 4096), mmap.mmap(code, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
found = memory.shared()
assert len(found.mappings) == 3, found
child = os.fork()
if not child:
    found.own()
    first[0] = second[0] = seen[0] = 9
    assert os.pread(private, 1, 0) == os.pread(private, 1, 4096) == b"\\x09", "by its descriptor it is the same"
    assert (looked[0], looked[4096], looked[4096 + 7]) == (9, 9, 5)
    assert (os.fstat(private).st_size, os.lseek(private, 0, 1)) == (8200, 77)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert (first[0], second[0], seen[0]) == (0, 0, 9)
"""


def test_a_file_without_a_name_is_copied_with_its_descriptors_and_one_with_a_name_stays(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FILES, str(tmp_path / "named")], check=True, timeout=60)
