"""The pipeline of processes, through torchrun on this machine."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

from dflash.cli import main
from dflash.train import checkpoint

STEPS = 6
#: What torchrun starts: the command line, in which start number i loses a rank as the i-th entry of LOSE says.
RANK = """
import json, os, signal, sys, torch
torch.set_num_threads(1)
from dflash.cli import main
from dflash.pipeline.processes import ProcessTrainer
plan = json.loads(os.environ["LOSE"])[int(os.environ["TORCHELASTIC_RESTART_COUNT"]):][:1]
def dying(name):
    real = getattr(ProcessTrainer, name)
    def method(self, *arguments):
        if [self.rank, name, self.step] in plan:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *arguments)
    setattr(ProcessTrainer, name, method)
for name in ("gradients", "_apply", "save"):
    dying(name)
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
    environment = {**os.environ, "LOSE": json.dumps(lose), "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run(command, capture_output=True, text=True, timeout=850, env=environment)


def outcome(out: Path) -> tuple[list[dict], dict]:
    curve = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    for entry in curve:
        entry.pop("tokens_per_second")
    last = checkpoint.find(out / "checkpoints")[-1]
    assert last.name == f"step-{STEPS:08d}"
    return curve, {p.name: load_file(p) for p in last.glob("*.safetensors")}


def same(one: tuple[list[dict], dict], two: tuple[list[dict], dict]) -> bool:
    weights = all(bool((one[1][f][k] == two[1][f][k]).all()) for f in one[1] for k in one[1][f])
    return one[0] == two[0] and weights


@pytest.mark.slow
def test_two_ranks_lose_one_restart_and_end_as_one_device(project: Path) -> None:
    assert main(["train", str(project / "run.toml")]) == 0
    one = outcome(project / "one")
    done = torchrun(project, 2, [[1, "gradients", 3]], f"output.directory={project}/two")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "resumed at step 2" in done.stderr, "a rank was lost in step 4, after the checkpoint of step 2"
    assert same(outcome(project / "two"), one)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_ranks_lost_at_random_moments(seed: int, project: Path) -> None:
    """Four times in each run, before, in and after a step, and before a checkpoint is written."""
    draws = random.Random(seed)
    lose: list[list] = []
    for step in sorted(draws.sample(range(STEPS), 4)):
        name = draws.choice(["gradients", "_apply", "save"])
        if name == "save":  # by rank 0, after the step; checkpoints are of even ones
            step += 1 + step % 2
        lose.append([0 if name == "save" else draws.randrange(2), name, step])
    assert main(["train", str(project / "run.toml")]) == 0
    done = torchrun(project, 2, lose, f"output.directory={project}/two")
    assert done.returncode == 0, done.stderr[-3000:]
    assert same(outcome(project / "two"), outcome(project / "one"))


@pytest.mark.slow
def test_three_ranks_with_a_rest_stay_within_rounding(project: Path) -> None:
    """Four micro-batches on three ranks: two of them are added on a rank before the sum over ranks."""
    changes = ["train.accumulation=4"]
    assert main(["train", str(project / "run.toml"), "--set", changes[0]]) == 0
    done = torchrun(project, 3, [], f"output.directory={project}/three", *changes)
    assert done.returncode == 0, done.stderr[-3000:]
    one, three = outcome(project / "one"), outcome(project / "three")
    for a, b in zip(one[0], three[0], strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-5)
        assert a["blocks"] == b["blocks"]


def test_without_torchrun_it_says_how_to_start(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(project / "run.toml"), "--set", "pipeline.mode=processes"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is no rank of torchrun; start it with: torchrun --nproc-per-node" in line


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (['pipeline.drafters=["cpu"]'], 'pipeline.drafters is for pipeline.mode = "threads"; the mode is "one"'),
        (["pipeline.mode=threads", 'pipeline.drafters=["cuda:0-1"]'], "pipeline.drafters 'cuda:0' can't be used"),
        (["pipeline.mode=threads", 'pipeline.targets=["cuda:3-1"]'], "the lower number comes first"),
        (["pipeline.mode=threads", 'pipeline.drafters=["warp"]'], "pipeline.drafters 'warp' can't be used"),
        (["pipeline.mode=threads", "pipeline.drafters=[]"], "pipeline.drafters is empty"),
        (["pipeline.mode=threads", 'pipeline.drafters=["cpu","cpu","cpu"]'], "3 drafters need at least 3"),
        (["pipeline.mode=threads", "pipeline.fix=magic"], "pipeline.fix: unknown fix 'magic'"),
        (["pipeline.mode=several"], "pipeline.mode"),
    ],
)
def test_what_cannot_be_honoured_is_refused(
    changes: list[str], words: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [part for change in changes for part in ("--set", change)]
    assert main(["train", str(project / "run.toml"), *given]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dflash train")]
    assert len(lines) == 1
    assert words in lines[0]


def test_one_device_and_threads_by_configuration(project: Path) -> None:
    toml = project / "run.toml"
    assert main(["train", str(toml)]) == 0
    threads = ["--set", "pipeline.mode=threads", "--set", 'pipeline.drafters=["cpu","cpu"]']
    assert main(["train", str(toml), "--set", f"output.directory={project}/threads", *threads]) == 0
    assert same(outcome(project / "threads"), outcome(project / "one"))
