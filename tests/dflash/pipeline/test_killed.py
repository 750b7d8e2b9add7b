"""A threaded run that is killed anywhere and resumed is the same run, to the bit."""

from __future__ import annotations

import dataclasses
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from pipelines import SETTINGS, make
from safetensors.torch import load_file

from dflash.train import checkpoint

LONGER = dataclasses.replace(SETTINGS, steps=20)


def child(root: Path) -> None:
    """Trains under the parent's eye: a line for each gradient that is added and around each checkpoint."""
    torch.set_num_threads(1)
    trainer = make(root, LONGER, targets=("cpu", "cpu"), drafters=("cpu", "cpu", "cpu"))
    if checkpoint.find(trainer.checkpoints):
        trainer.resume()
    from dflash.pipeline.threads import Threads

    add, rename = Threads._add, checkpoint.os.rename

    def added(self, made):
        print("gradient", flush=True)
        add(self, made)

    def renamed(a, b):
        print("rename", flush=True)
        rename(a, b)
        print("renamed", flush=True)

    Threads._add, checkpoint.os.rename = added, renamed
    trainer.run()


def start(root: Path) -> subprocess.Popen[bytes]:
    here = Path(__file__).parents[1]
    paths = [str(here), str(here / "pipeline"), str(here.parents[1])]
    code = f"import sys; sys.path[:0] = {paths!r}; import test_killed, pathlib; test_killed.child(pathlib.Path(sys.argv[1]))"
    return subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE)


def outcome(root: Path) -> dict[str, torch.Tensor]:
    last = checkpoint.find(root / "out" / "checkpoints")[-1]
    assert last.name == "step-00000020"
    return {f"{p.name} {k}": t for p in sorted(last.glob("*.safetensors")) for k, t in load_file(p).items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_killed_four_times_at_random_moments_and_resumed(seed: int, tmp_path: Path) -> None:
    make(tmp_path / "one", LONGER).run()
    root, draws = tmp_path / "killed", random.Random(seed)
    root.mkdir()
    for _ in range(4):
        process = start(root)
        assert process.stdout is not None
        for _ in range(draws.randint(1, 12)):
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    process = start(root)
    process.communicate()
    assert process.returncode == 0
    one, killed = outcome(tmp_path / "one"), outcome(root)
    assert one.keys() == killed.keys()
    assert all(torch.equal(one[k], killed[k]) for k in one)
