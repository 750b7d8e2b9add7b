"""Interrupted after any run, or killed at any time: the same command goes on, and makes no run twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from support.pollution import FEW, ask, planted
from support.programs import processes_of

import harness
from harness.cli.main import main
from harness.order.child import Child
from harness.order.log import Log


def test_stopped_after_every_single_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = planted("one", 12, Random(4))
    run = ask(tmp_path, capsys, monkeypatch, test_it=made.text)
    started, kept = [], []
    start, keep = Child.__init__, Log.add

    def counted(self: Child, argv: object, cwd: object, folder: object, job: dict, seconds: float) -> None:
        started.append(json.dumps([job["order"], job["paths"], job["gc"], job["neutral"]]))
        start(self, argv, cwd, folder, job, seconds)

    def stopping(self: Log, trial: object, result: object) -> None:
        keep(self, trial, result)
        kept.append(trial)
        raise KeyboardInterrupt

    monkeypatch.setattr(Child, "__init__", counted)
    monkeypatch.setattr(Log, "add", stopping)
    words = ["order", "--store", str(tmp_path / "store"), *FEW, "--", "pytest", "-q"]
    while (status := main(words)) == 130:
        out, err = capsys.readouterr()
        assert out == ""
        assert f"{len(kept)} runs are kept in {tmp_path / 'store' / 'order.jsonl'}" in err
    assert status == 1
    capsys.readouterr()
    status, found, said = run()
    assert (status, found["before"], found["runs"]) == (1, list(made.culprits), len(started))
    assert len(started) == len(set(started)) == len(kept) + 1
    assert said == [f"{len(kept)} runs are in {tmp_path / 'store' / 'order.jsonl'}"]


@pytest.mark.slow
def test_killed_at_any_time(tmp_path: Path) -> None:
    """Nothing that was kept is run again, nothing is left of what was running, and the finding is the same."""
    made, random = planted("pair", 40, Random(9)), Random(1)
    (tmp_path / "test_it.py").write_text(made.text)
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(Path(harness.__file__).parents[1])}
    log = tmp_path / "store" / "order.jsonl"
    command = [sys.executable, "-m", "harness", "order", "--json", "--store", str(log.parent), "--"]
    command += [sys.executable, "-m", "pytest", "-q", "test_it.py"]
    before, kills = "", 0
    while True:
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = process.communicate(timeout=random.uniform(1, 12))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
        after = log.read_text() if log.exists() else ""
        assert after.startswith(before[: before.rfind("\n") + 1])
        before = after
        if process.returncode != -signal.SIGKILL:
            break
        assert processes_of(str(tmp_path)) == []
    assert process.returncode == 1, err
    assert kills > 1
    assert json.loads(out)["before"] == list(made.culprits)
    runs = [json.dumps(json.loads(line)["run"]) for line in before.splitlines()[2:]]
    assert len(runs) == len(set(runs)) == json.loads(out)["runs"] - 1
