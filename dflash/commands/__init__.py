"""One command per file: `add_arguments` and `run`."""

from __future__ import annotations

from types import ModuleType

from dflash.commands import demo, doctor, evaluate, export, generate, regenerate, train

COMMANDS: dict[str, ModuleType] = {
    "train": train,
    "regenerate": regenerate,
    "generate": generate,
    "eval": evaluate,
    "export": export,
    "demo": demo,
    "doctor": doctor,
}
