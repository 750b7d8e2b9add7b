"""`dflash train` through torchrun on this machine, with ranks that are lost on purpose."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from safetensors.torch import load_file

from dflash.train import checkpoint

STEPS = 6
#: What torchrun starts: the command line, in which start number i loses a rank as the i-th entry of LOSE says.
RANK = """
import json, os, signal, sys, torch
torch.set_num_threads(1)
from dflash.cli import main
from dflash.pipeline.processes import ProcessTrainer
from dflash.pipeline.sharded import ShardedTrainer
plan = json.loads(os.environ["LOSE"])[int(os.environ["TORCHELASTIC_RESTART_COUNT"]):][:1]
def dying(kind, name):
    real = getattr(kind, name)
    def method(self, *arguments):
        if [self.rank, name, self.step] in plan:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *arguments)
    setattr(kind, name, method)
for name in ("gradients", "_apply", "save"):
    dying(ProcessTrainer, name)
dying(ShardedTrainer, "save")
sys.exit(main(sys.argv[1:]))
"""


def torchrun(root: Path, ranks: int, lose: list[list], *changes: str) -> subprocess.CompletedProcess[str]:
    """`lose`: for each start the rank that is killed, in which method, and in which step (from 0)."""
    (root / "rank.py").write_text(RANK)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    command += ["--max-restarts", str(len(lose)), "--local-addr", "127.0.0.1"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"]
    command += [str(root / "rank.py"), "train", str(root / "run.toml")]
    for change in ("pipeline.mode=processes", *changes):
        command += ["--set", change]
    environment = {**os.environ, "LOSE": json.dumps(lose), "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(command, capture_output=True, text=True, timeout=850, env=environment)


def outcome(out: Path) -> tuple[list[dict], dict]:
    curve = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    for entry in curve:
        entry.pop("tokens_per_second", None)
    last = checkpoint.find(out / "checkpoints")[-1]
    assert last.name == f"step-{STEPS:08d}"
    return curve, {p.name: load_file(p) for p in last.glob("*.safetensors")}


def same(one: tuple[list[dict], dict], two: tuple[list[dict], dict]) -> bool:
    weights = all(bool((one[1][f][k] == two[1][f][k]).all()) for f in one[1] for k in one[1][f])
    return one[0] == two[0] and weights


def moments(draws: random.Random) -> list[list]:
    """Four losses: before, in and after a step, and before a checkpoint is written."""
    lose: list[list] = []
    for step in sorted(draws.sample(range(STEPS), 4)):
        name = draws.choice(["gradients", "_apply", "save"])
        if name == "save":  # by rank 0, after the step; checkpoints are of even ones
            step += 1 + step % 2
        lose.append([0 if name == "save" else draws.randrange(2), name, step])
    return lose
