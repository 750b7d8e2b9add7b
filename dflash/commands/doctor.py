"""Say whether this machine, its packages and, if one is given, a training configuration fit."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import subprocess
import sys
from typing import Any

from dflash import config
from dflash.commands.arguments import answer, positive, say
from dflash.errors import UserError
from dflash.pipeline import fix
from dflash.pipeline.dry_run import dry_run

#: Races that the trainer's threads could meet: the nested-FX error, and a foreign call caught in a trace.
RACES = ("flag.warm", "patcher.foreign_call")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", nargs="?", help="TOML file: estimate its memory and run one step of it")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="change one value")
    parser.add_argument(
        "--ranks", type=positive, metavar="N", help="of pipeline.mode processes: how many torchrun will start"
    )
    parser.add_argument("--races", action="store_true", help="search here for known races of torch (a minute)")


def run(options: argparse.Namespace) -> int:
    settings = config.load(options.config, options.set) if options.config else None
    if options.set and settings is None:
        raise UserError("--set changes a configuration: give its file")
    if options.ranks and settings is None:
        raise UserError("--ranks is about a configuration: give its file")
    values = examine()
    values["fix for threads"] = fix.told(settings.pipeline.fix if settings else "auto")
    if options.races:
        values |= {f"race {name}": live(name) for name in RACES}
    if settings is not None:
        values |= dry_run(settings, say, options.ranks)
    answer(options, values, "\n".join(_lines(values)))
    return 0 if values["ok"] else 1


def _lines(values: dict[str, Any]) -> list[str]:
    lines = []
    for name, value in values.items():
        if name == "memory":
            for device, parts in value.items():
                total = sum(parts.values())
                detail = ", ".join(f"{part} {size / 1e6:.0f}" for part, size in parts.items())
                lines.append(f"{'memory ' + device:<28} {total / 1e6:.0f} MB ({detail})")
        else:
            lines.append(f"{name:<28} {value}")
    return lines


def live(scenario: str) -> str:
    """Whether the harness finds the scenario's failure with the torch that is installed; it is searched for."""
    command = [sys.executable, "-m", "harness", "find", scenario, "--budget", "60", "--threads", "2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return f"not tested ({(done.stderr.strip().splitlines() or ['no answer'])[-1][:80]})"
    found = json.loads(done.stdout)
    return f"live: {found['signature'][:70]}" if found["found"] else f"none in {found['schedules']} schedules"


def examine() -> dict[str, Any]:
    """Versions, devices and what the attention backends do here; each entry was tried, not looked up."""
    import torch

    values: dict[str, Any] = {"python": platform.python_version(), "torch": torch.__version__}
    for name in ("transformers", "safetensors", "pydantic", "tqdm", "tensorboard", "matplotlib"):
        try:
            values[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            values[name] = "missing"
    values["cuda"] = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for i in range(values["cuda"]):
        free, total = torch.cuda.mem_get_info(i)
        values[f"cuda:{i}"] = f"{torch.cuda.get_device_name(i)}, {free / 1e9:.0f} of {total / 1e9:.0f} GB free"
    values["threads"] = torch.get_num_threads()
    for backend in ("sdpa", "flex"):
        values[f"attention {backend}"] = _try(backend)
    needed = [values[k] for k in ("transformers", "safetensors", "pydantic", "tqdm")]
    values["ok"] = "missing" not in needed and values["attention sdpa"] == "ok"
    return values


def _try(backend: str) -> str:
    """Forward and backward of a small drafter, against plain attention."""
    import torch

    from dflash import attention
    from dflash.masks import Layout
    from dflash.model import Drafter, DrafterConfig

    config = DrafterConfig(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        vocab_size=8,
        block_size=4,
        mask_token_id=7,
        target_layer_ids=(1,),
        num_target_layers=4,
    )
    g = torch.Generator().manual_seed(0)
    drafter = Drafter(config).initialize(g)
    places = torch.arange(12)[None]
    layout = Layout(torch.tensor([[3, 7]]), torch.tensor([[True, True]]), torch.zeros_like(places), places, 4)
    block, features = torch.randn(1, 8, 32, generator=g), torch.randn(1, 12, 32, generator=g)
    found: list[torch.Tensor] = []
    try:
        for name in ("sdpa", backend):
            attend = attention.build(name, config, layout)
            drafter.zero_grad()
            drafter(block, features, layout.query_positions(), places, attend).square().sum().backward()
            assert drafter.fc.weight.grad is not None
            found.append(drafter.fc.weight.grad.clone())
    except Exception as error:
        return f"fails here ({type(error).__name__}: {str(error).splitlines()[0][:80]})"
    reference, ours = found
    return "ok" if torch.allclose(ours, reference, atol=1e-4, rtol=1e-3) else "gives other gradients than sdpa"
