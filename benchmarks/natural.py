"""How often natural training fails: N runs of the threaded pipeline by chance alone, nothing controlled.

    python benchmarks/natural.py [--runs 10] [--steps 200] [--drafters 4] [--fix none] [--python PYTHON]

Each run is a process of its own. Drafters compile flex attention (`aot_eager`) each for itself; rows come in forty
lengths, so that attention compiles anew while others are in their steps. A run that stops is `bad`, with its
last words; one that cannot even begin ends the measurement. `--python`: of another release's environment
(`harness env list`), with safetensors in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
LENGTHS = tuple(range(16, 336, 8))


def child(options: argparse.Namespace) -> None:
    import torch

    sys.path.insert(0, str(ROOT))
    from dflash.data.random_rows import RandomRows
    from dflash.loss import Objective
    from dflash.model import Drafter, DrafterConfig
    from dflash.pipeline import PipelineSettings
    from dflash.pipeline.trainer import ThreadedTrainer
    from dflash.target import TinyConfig, TinyTarget
    from dflash.train import Settings

    torch.set_num_threads(1)
    sizes = {
        "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 1, "num_key_value_heads": 1,
        "head_dim": 16, "vocab_size": 24,
    }  # fmt: skip
    target = TinyTarget(TinyConfig(num_hidden_layers=4, **sizes)).initialize(torch.Generator().manual_seed(0), 0.3).freeze()
    config = DrafterConfig(
        num_hidden_layers=1, block_size=4, mask_token_id=23, target_layer_ids=(1,), num_target_layers=4, **sizes
    )
    drafter = Drafter(config).initialize(torch.Generator().manual_seed(1))
    settings = Settings(
        steps=options.steps, anchors=2, accumulation=2 * options.drafters, attention="flex",
        checkpointing=options.checkpointing, log_every=1, checkpoint_every=None,
    )  # fmt: skip
    how = PipelineSettings(drafters=("cpu",) * options.drafters, fix=options.fix)
    with tempfile.TemporaryDirectory() as folder:
        trainer = ThreadedTrainer(
            settings, drafter, target, RandomRows(23, *LENGTHS), Objective(), Path(folder), pipeline=how
        )
        print("training", flush=True)
        trainer.run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("runs", 10), ("steps", 200), ("drafters", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--fix", default="none", help="as pipeline.fix: none, auto, or a fix's name")
    parser.add_argument("--checkpointing", default="none", choices=("none", "reentrant", "non_reentrant"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
        return
    command = [
        options.python, __file__, "--child", "--steps", str(options.steps), "--drafters", str(options.drafters),
        "--fix", options.fix, "--checkpointing", options.checkpointing,
    ]  # fmt: skip
    rows = []
    for run in range(options.runs):
        began = time.perf_counter()
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if not done.stdout.startswith("training"):
            sys.exit(f"a run did not begin: {(done.stderr.strip().splitlines() or ['no words'])[-1]}")
        words = (done.stderr.strip().splitlines() or [""])[-1] if done.returncode else ""
        if "ModuleNotFoundError" in words or "ImportError" in words:
            sys.exit(f"a package is missing there, which is no failure of training: {words}")
        rows.append({"bad": bool(done.returncode), "seconds": round(time.perf_counter() - began, 1), "says": words[:200]})
        if not options.json:
            print(f"run {run + 1}: {'bad' if done.returncode else 'ok'}, {rows[-1]['seconds']} s {words[:160]}", flush=True)
    bad = sum(row["bad"] for row in rows)
    if options.json:
        print(json.dumps({"fix": options.fix, "steps": options.steps, "drafters": options.drafters, "bad": bad, "runs": rows}))
    else:
        print(f"{bad} of {options.runs} runs of {options.steps} steps with {options.drafters} drafters were bad (fix: {options.fix})")


if __name__ == "__main__":
    main()
