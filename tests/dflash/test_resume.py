"""A run that was stopped anywhere and resumed is the same run, to the bit."""

from __future__ import annotations

import errno
import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from data import random_batches
from models import drafter_for, tiny_target
from safetensors.torch import load_file

from dflash.errors import UserError
from dflash.loss import Objective
from dflash.train import Settings, Trainer, checkpoint

STEPS = 24
SETTINGS = Settings(
    steps=STEPS,
    anchors=3,
    accumulation=2,
    ema=0.9,
    weight_decay=0.01,
    schedule="wsd",
    log_every=1,
    checkpoint_every=3,
)


def make(root: Path, settings: Settings = SETTINGS) -> Trainer:
    root.mkdir(exist_ok=True)
    target = tiny_target()
    return Trainer(
        settings, drafter_for(target), target, random_batches(root / "data"), Objective(), root / "out"
    )


def outcome(root: Path) -> tuple[list[dict], dict[str, bytes]]:
    """Loss curve without the clock, and the bytes of the last checkpoint's tensors."""
    curve = [json.loads(line) for line in (root / "out" / "log.jsonl").read_text().splitlines()]
    for entry in curve:
        entry.pop("tokens_per_second")
    last = checkpoint.find(root / "out" / "checkpoints")[-1]
    assert last.name == f"step-{STEPS:08d}"
    return curve, {p.name: p.read_bytes() for p in last.glob("*.safetensors")}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict], dict[str, bytes]]:
    root = tmp_path_factory.mktemp("whole")
    make(root).run()
    curve, tensors = outcome(root)
    assert [e["step"] for e in curve] == list(range(1, STEPS + 1))
    assert set(tensors) == {"model.safetensors", "optimizer.safetensors", "ema.safetensors"}
    return curve, tensors


def test_stopped_between_checkpoints_and_resumed(uninterrupted, tmp_path: Path) -> None:
    make(tmp_path).run(until=7)
    again = make(tmp_path)
    assert again.resume() == 6
    again.run()
    assert outcome(tmp_path) == uninterrupted


def run_child(root: Path) -> subprocess.Popen[bytes]:
    here = Path(__file__).parent
    paths = [str(here), str(here.parents[1])]
    code = f"import sys; sys.path[:0] = {paths!r}; import test_resume; test_resume.child()"
    return subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE)


def child() -> None:
    """Trains under the parent's eye: one line per step and one before each checkpoint's rename."""
    torch.set_num_threads(1)
    trainer = make(Path(sys.argv[1]))
    if checkpoint.find(trainer.checkpoints):
        trainer.resume()
    rename = checkpoint.os.rename

    def told(a: Path, b: Path) -> None:
        print("rename", flush=True)
        rename(a, b)
        print("renamed", flush=True)

    checkpoint.os.rename = told
    trainer.run(report=lambda entry: print("step", flush=True))


def kill_at_events(root: Path, draws: random.Random, kills: int) -> int:
    """Start, kill at a random event, start again; then let it end. Returns how many kills hit."""
    hit = 0
    for _ in range(kills):
        process = run_child(root)
        assert process.stdout is not None
        for _ in range(draws.randint(1, 8)):
            if not process.stdout.readline():
                break
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            hit += 1
        process.communicate()
    process = run_child(root)
    process.communicate()
    assert process.returncode == 0
    return hit


def test_killed_twice_and_resumed(uninterrupted, tmp_path: Path) -> None:
    assert kill_at_events(tmp_path, random.Random(1), 2) == 2
    assert outcome(tmp_path) == uninterrupted


@pytest.mark.slow
def test_killed_at_twenty_random_moments_and_resumed(uninterrupted, tmp_path: Path) -> None:
    hit = 0
    for seed in range(5):
        root = tmp_path / str(seed)
        root.mkdir()
        hit += kill_at_events(root, random.Random(seed), 4)
        assert outcome(root) == uninterrupted
    assert hit == 20


def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    trainer = make(tmp_path)
    trainer.run(until=4)
    before = {p.name: p.read_bytes() for p in checkpoint.find(trainer.checkpoints)[-1].iterdir()}
    with torch.no_grad():
        trainer.drafter.fc.weight[0, 0] = float("nan")
    with pytest.raises(
        UserError, match=r"step 5 .*the loss is not finite; the last good checkpoint is .*step-00000003"
    ):
        trainer.run()
    found = checkpoint.find(trainer.checkpoints)
    assert [p.name for p in found] == ["step-00000003"]
    assert {p.name: p.read_bytes() for p in found[-1].iterdir()} == before


def test_full_disk_leaves_earlier_checkpoints_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make(tmp_path)
    trainer.run(until=3)
    real = checkpoint.save_file

    def full(tensors: dict, path: Path) -> None:
        if "ema" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(tensors, path)

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(UserError, match="the disk is full"):
        trainer.run()
    monkeypatch.undo()
    assert [p.name for p in sorted(trainer.checkpoints.iterdir())] == ["step-00000003"]
    assert make(tmp_path).resume() == 3


def test_foreign_and_torn_checkpoints_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no checkpoint to resume from"):
        make(tmp_path).resume()
    make(tmp_path).run(until=3)
    (path,) = checkpoint.find(tmp_path / "out" / "checkpoints")
    target, data = tiny_target(), random_batches(tmp_path / "d")
    plain = Trainer(Settings(steps=5), drafter_for(target), target, data, Objective(), tmp_path / "out")
    with pytest.raises(UserError, match="with an average of the weights"):
        plain.resume()
    wide = drafter_for(target, intermediate_size=64)
    other = Trainer(SETTINGS, wide, target, data, Objective(), tmp_path / "out")
    with pytest.raises(UserError, match="has the shape"):
        other.resume()
    weights = path / "optimizer.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(UserError, match="can't be read whole"):
        make(tmp_path).resume()
    (path / "state.json").write_text("{}")
    with pytest.raises(UserError, match="another format"):
        make(tmp_path).resume()


def test_only_the_newest_checkpoints_are_kept_and_they_are_exports(tmp_path: Path) -> None:
    from dflash.export import read_drafter

    trainer = make(tmp_path)
    trainer.run(until=10)
    assert [p.name for p in checkpoint.find(trainer.checkpoints)] == ["step-00000006", "step-00000009"]
    path = checkpoint.find(trainer.checkpoints)[-1]
    tensors = load_file(path / "model.safetensors")
    for name, value in read_drafter(path).state_dict().items():
        assert torch.equal(value, tensors[name])
