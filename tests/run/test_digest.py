"""One schedule, one digest: over forking parents, hash seeds, folders and load."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.programs import write

import harness
from harness.control.actions import Collect, HandOver
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Directive, Schedule, to_token

SOURCE = """
STATE = 0
NAMES = {"alpha", "beta", "gamma", "delta"}
lock = threading.Lock()
class Planted:
    def __del__(self):
        marker("finalizer")
def visit(name):
    global STATE
    STATE += len(name)
    marker("visited " + name[:1] if False else "visited:" + name)
def body(shared):
    cycle = Planted()
    cycle.me = cycle
    del cycle
    with lock:
        for name in NAMES:  # in the order of the hash seed
            visit(name)
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(len, ["a", "bc"]))
scenario = Scenario([body, body])
"""


def schedule(reference: str) -> Schedule:
    directives = (
        Directive("T0", "marker:visited:beta", 1, HandOver("T1")),
        Directive("T0", "marker:visited:gamma", 1, Collect(2)),
    )
    return Schedule(reference, 2, directives=directives)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("here"), SOURCE, "digested")


@pytest.fixture(scope="module")
def digest(reference: str) -> str:
    with Launcher(reference) as launcher:
        report = launcher.run(Job(schedule(reference)))
    assert not report.unused
    assert len(report.log) > 30
    return report.digest


def test_over_runs_and_forking_parents(reference: str, digest: str) -> None:
    with Launcher(reference, jobs=4) as launcher:
        reports = [report for _, report in launcher.map(Job(schedule(reference)) for _ in range(40))]
    assert {report.digest for report in reports} == {digest}


@pytest.mark.parametrize("seed", ["0", "1", "4711", "random"])
def test_over_hash_seeds_and_folders(reference: str, digest: str, seed: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(harness.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "harness", "replay", "--json", "--times", "3", to_token(schedule(reference))],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert (answer["digest"], answer["times"], answer["same"]) == (digest, 3, 3)


def test_a_copy_of_the_file_elsewhere(reference: str, digest: str, tmp_path: Path) -> None:
    shutil.copy(reference.partition(":")[0], tmp_path)
    copy = f"{tmp_path}/digested.py:scenario"
    with Launcher(copy) as launcher:
        assert launcher.run(Job(schedule(copy))).digest == digest


def test_another_schedule_has_another_digest(reference: str, digest: str) -> None:
    with Launcher(reference) as launcher:
        for other in (Schedule(reference, 2), Schedule(reference, 2, 1)):
            assert launcher.run(Job(other)).digest != digest


def test_recording_changes_no_digest(reference: str, digest: str) -> None:
    with Launcher(reference) as launcher:
        report = launcher.run(Job(schedule(reference), detail=True))
    assert report.digest == digest
    assert {access["state"] for access in report.accesses} == {"digested.STATE", "digested:me"}
