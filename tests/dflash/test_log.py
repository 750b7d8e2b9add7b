"""What a run logs can be read back, by JSON and by TensorBoard's own reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dflash.train.log import Log


def losses(directory: Path) -> dict[int, float | None]:
    entries = map(json.loads, (directory / "log.jsonl").read_text().splitlines())
    return {e["step"]: e["loss"] for e in entries if e["kind"] == "train"}


def test_a_torn_and_resumed_log_has_every_step_once(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        for step in range(1, 6):
            log.write(step, "train", loss=float(step))
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 6, "ki')
    with Log(tmp_path, resume_step=3) as log:
        log.write(4, "train", loss=40.0)
        log.write(5, "train", loss=float("nan"))
    assert losses(tmp_path) == {1: 1.0, 2: 2.0, 3: 3.0, 4: 40.0, 5: None}


def test_tensorboard_reads_what_was_logged(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Log(tmp_path, tensorboard=True) as log:
        for step in range(1, 6):
            log.write(step, "train", loss=float(step), accuracy=[0.5, 0.25])
    with Log(tmp_path, tensorboard=True, resume_step=3) as log:
        for step in range(4, 7):
            log.write(step, "train", loss=10.0 * step, accuracy=[0.5, 0.25])
        log.write(6, "validate", tau=1.5)
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert {e.step: e.value for e in board.Scalars("train/loss")} == losses(tmp_path)
    assert [e.value for e in board.Scalars("train/accuracy/2")] == [0.25] * 6
    assert [(e.step, e.value) for e in board.Scalars("validate/tau")] == [(6, 1.5)]
