"""Training throughput: the bare loop on one device, the pipeline of threads, processes; all in one run.

    python benchmarks/pipeline.py [--steps 10] [--drafters 1,2,3] [--modes one,threads,unfixed,processes] [--json]

Every row is a process (or torchrun) of its own over the same data, weights and global batch, so the losses must
agree. Reported: block tokens per second by the clock and per processor second, both without the first step, the
share of the time that target workers waited, and how deep the queues were. `unfixed` is `threads` with
`pipeline.fix = "none"`: the difference is the cost of the default fix. Drafters share the machine's cores, so on
a CPU more of them help only where there are cores left.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from dflash.data.random_rows import RandomRows
from dflash.loss import Objective
from dflash.model import Drafter, DrafterConfig
from dflash.pipeline import PipelineSettings, ranks
from dflash.pipeline.processes import ProcessTrainer
from dflash.pipeline.trainer import ThreadedTrainer
from dflash.target import TinyConfig, TinyTarget
from dflash.train import Settings, Trainer

MODES = ("one", "threads", "unfixed", "processes")


def parts(options: argparse.Namespace, out: Path) -> tuple[Any, ...]:
    """What a trainer is made of."""
    sizes = {
        "hidden_size": options.hidden, "intermediate_size": 3 * options.hidden, "head_dim": 64,
        "num_attention_heads": max(1, options.hidden // 64), "num_key_value_heads": max(1, options.hidden // 128),
        "vocab_size": options.vocabulary,
    }  # fmt: skip
    target = TinyTarget(TinyConfig(**sizes, num_hidden_layers=6)).initialize(torch.Generator().manual_seed(0)).freeze()
    config = DrafterConfig(
        **sizes, num_hidden_layers=2, block_size=8, mask_token_id=0, target_layer_ids=(1, 3), num_target_layers=6
    )
    drafter = Drafter(config).initialize(torch.Generator().manual_seed(1))
    settings = Settings(
        steps=options.steps + 1, anchors=options.anchors, accumulation=options.micro, attention=options.attention,
        log_every=1, checkpoint_every=None,
    )  # fmt: skip
    return settings, drafter, target, RandomRows(options.vocabulary, options.length), Objective(), out


def child(options: argparse.Namespace) -> None:
    """One mode in this process; rank 0 prints the row."""
    mode, count = options.child, options.count
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        made = parts(options, Path(folder))
        if mode == "processes":
            with ranks.connected(torch.device("cpu")):
                _measure(ProcessTrainer(*made), options)
        elif mode == "one":
            _measure(Trainer(*made), options)
        else:
            fix = "none" if mode == "unfixed" else "auto"
            how = PipelineSettings(drafters=("cpu",) * count, fix=fix)
            _measure(ThreadedTrainer(*made, pipeline=how), options)


def _measure(trainer: Trainer, options: argparse.Namespace) -> None:
    marks: list[tuple[float, float, float]] = []

    def report(entry: dict[str, Any]) -> None:
        marks.append((time.perf_counter(), time.process_time(), entry["loss"]))

    trainer.run(report=report)
    if not trainer.leads:
        return
    seconds, cpu = marks[-1][0] - marks[0][0], marks[-1][1] - marks[0][1]
    tokens = options.steps * options.micro * options.anchors * trainer.drafter.config.block_size
    row: dict[str, Any] = {
        "tokens_per_second": tokens / seconds, "seconds": seconds, "cpu_seconds": cpu, "loss": marks[-1][2],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip
    if isinstance(trainer, ThreadedTrainer) and trainer.threads is not None:
        row |= trainer.threads.figures()
    print(json.dumps(row))


def measured(options: argparse.Namespace, mode: str, count: int) -> dict[str, Any]:
    command = [sys.executable, __file__, *sys.argv[1:], "--child", mode, "--count", str(count)]
    if mode == "processes":
        run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count)]
        run += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"]
        command = [*run, *command[1:]]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{mode} with {count} failed: {(done.stderr.strip().splitlines() or ['no words'])[-1]}")
    row = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    if mode == "processes":  # a rank's own time; the others' is the same work
        row["cpu_seconds"] *= count
    return {"mode": mode, "drafters": count, **row}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (
        ("steps", 10), ("micro", 6), ("anchors", 64), ("length", 256), ("hidden", 128), ("vocabulary", 2048),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--attention", default="sdpa", choices=("sdpa", "flex"))
    parser.add_argument("--drafters", default="1,2,3")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", choices=MODES, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    counts = [int(n) for n in options.drafters.split(",")]
    asked = options.modes.split(",")
    if set(asked) - set(MODES):
        parser.error(f"modes are {', '.join(MODES)}")
    cells = [(mode, n) for mode in asked for n in (counts if mode != "one" else [1])]
    rows = [measured(options, mode, n) for mode, n in cells]
    if options.json:
        print(json.dumps({"rows": rows, "options": vars(options)}))
        return
    base = rows[0]
    print(f"{'mode':<11}{'drafters':>9}{'tokens/s':>10}{'x':>7}{'cpu s':>8}{'x':>7}{'peak MB':>9}{'loss':>10}  queues")
    for r in rows:
        speed, work = r["tokens_per_second"] / base["tokens_per_second"], r["cpu_seconds"] / base["cpu_seconds"]
        idle = [f"{k} {v / r['seconds']:.0%}" for k, v in r.items() if k.startswith("waited")]
        deep = [f"{k} {v}" for k, v in r.items() if k.startswith("deepest")]
        print(
            f"{r['mode']:<11}{r['drafters']:>9}{r['tokens_per_second']:>10.0f}{speed:>7.2f}{r['cpu_seconds']:>8.2f}"
            f"{work:>7.2f}{r['peak_mb']:>9.0f}{r['loss']:>10.4f}  {', '.join([*idle, *deep])}"
        )


if __name__ == "__main__":
    main()
