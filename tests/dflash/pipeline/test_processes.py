"""The pipeline of processes, through torchrun on this machine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from torchrun import moments, outcome, same, torchrun

from dflash.cli import main


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
    lose = moments(random.Random(seed))
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
        (["pipeline.drafter=sharded"], 'pipeline.drafter is for pipeline.mode = "processes"; the mode is "one"'),
        (
            ["pipeline.mode=threads", "pipeline.target=sharded"],
            'pipeline.target is for pipeline.mode = "processes"; the mode is "threads"',
        ),
        (["pipeline.mode=processes", "pipeline.drafter=split"], "pipeline.drafter: Input should be 'replicated' or"),
        (["pipeline.mode=processes", "pipeline.depth=3"], 'pipeline.depth is for pipeline.mode = "threads"'),
        (
            ["pipeline.mode=processes", "pipeline.target=sharded", "features.mode=cached"],
            'one rank makes the cache, but pipeline.target is sharded over all; set features.mode = "online"',
        ),
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
