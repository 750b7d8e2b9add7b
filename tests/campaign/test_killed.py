"""``kill -9`` at any moment of a campaign: resumed, it has what it would have had, nothing lost and nothing doubled."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest
from support.campaigns import SIZE, finished, scenarios, start
from support.programs import processes_of

from harness.campaign.groups import groups
from harness.campaign.merge import merge
from harness.campaign.store import Content
from harness.errors import UserError

#: Dies at the n-th statement that the store gives to SQLite: before it, or when it is done.
AT_STATEMENT = """
import os, signal
from harness.campaign.store import Store
count, run = 0, Store._run
def counted(self, *arguments):
    global count
    count += 1
    if count == {n} and not {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    result = run(self, *arguments)
    if count == {n}:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
Store._run = counted
"""


def stored(store: Path) -> Content | None:
    """None where it was killed before there was a plan in the store."""
    try:
        return merge([store])
    except UserError as error:
        assert "no store" in str(error) or "not a store" in str(error)
        return None


def reported(stderr: str) -> set[str]:
    return set(re.findall(r"harness replay (\S+)", stderr))


def not_lost(store: Path, before: Content | None, told: set[str]) -> Content | None:
    content = stored(store)
    if content is None:
        assert before is None
        assert not told
        return None
    if before is not None:
        assert before.units.items() <= content.units.items()
        assert before.failures.keys() <= content.failures.keys()
    assert told <= {failure["token"] for failure in content.failures.values()}
    return content


def uninterrupted(folder: Path, arguments: list[str]) -> Content:
    status, _, err = finished([*arguments, "--store", str(folder / "whole.db")])
    assert status == 1, err
    content = merge([folder / "whole.db"])
    assert len(content.units) == 6
    kinds = {(Path(group.scenario).name, group.outcome) for group in groups(content)}
    assert kinds == {
        ("lost.py:scenario", "wrong value"),
        ("two_ways.py:scenario", "wrong value"),
        ("two_ways.py:scenario", "error"),
    }
    return content


def the_same(content: Content | None, whole: Content) -> None:
    assert content is not None
    assert content.units == whole.units
    assert content.failures == whole.failures
    assert content.same(whole)


def test_killed_at_six_statements(tmp_path: Path) -> None:
    arguments = [*scenarios(tmp_path), *SIZE, "--jobs", "2"]
    whole = uninterrupted(tmp_path, arguments)
    store, random = tmp_path / "killed.db", Random(6)
    content: Content | None = None
    for kill in range(6):  # to make the store takes 17 statements, to open it again ten
        low, high = (1, 17) if not kill else (18, 24) if content is None else (8, 15)
        n, after = random.randint(low, high), random.random() < 0.5
        status, _, err = finished(
            [*arguments, "--store", str(store)], program=AT_STATEMENT.format(n=n, after=after)
        )
        assert status == -signal.SIGKILL, (n, err)
        content = not_lost(store, content, reported(err))
    assert content is not None
    assert len(content.units) < 6, "all kills came before the end"
    assert finished([*arguments, "--store", str(store)])[0] == 1
    the_same(not_lost(store, content, set()), whole)


@pytest.mark.slow
def test_killed_at_30_random_moments(tmp_path: Path) -> None:
    arguments = [*scenarios(tmp_path), "--jobs", "2", "--budget", "24", "--seeds", "12", "--times", "2"]
    began = time.monotonic()
    assert finished([*arguments, "--store", str(tmp_path / "whole.db")])[0] == 1
    whole_time = time.monotonic() - began
    whole = merge([tmp_path / "whole.db"])
    store, random = tmp_path / "killed.db", Random(30)
    content: Content | None = None
    kills = 0
    while kills < 30:
        process = start([*arguments, "--store", str(store)])
        try:
            process.communicate(timeout=random.uniform(0, whole_time / 2))
            assert process.returncode == 1
            store.unlink()  # it came to its end: the next kills are of a new campaign
            content = None
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
            _, err = process.communicate()
            content = not_lost(store, content, reported(err))
            print(f"kill {kills}: {len(content.units) if content else 'no'} units, {len(reported(err))} failures told")
    assert finished([*arguments, "--store", str(store)])[0] == 1
    the_same(not_lost(store, content, set()), whole)
    assert processes_of(str(tmp_path)) == []
