"""Python's own library as text: it is everywhere, and code has structure worth drafting."""

from __future__ import annotations

import hashlib
import sysconfig
from pathlib import Path

import torch
from torch import Tensor

from dflash.errors import UserError

SKIP = {"test", "tests", "idlelib", "lib2to3", "site-packages", "__pycache__", "turtledemo", "encodings"}


def load(root: Path | None = None, held_out: int = 12) -> tuple[Tensor, Tensor]:
    """Training and held-out bytes (uint8) of the library's modules.

    One module in `held_out` is set aside, chosen by a hash of its name, so the split is the same everywhere.
    Raises UserError where there is no source.
    """
    root = root or Path(sysconfig.get_paths()["stdlib"])
    parts: tuple[list[bytes], list[bytes]] = ([], [])
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if SKIP & set(inside.parts):
            continue
        aside = int(hashlib.sha256(str(inside).encode()).hexdigest(), 16) % held_out == 0
        parts[aside].append(path.read_bytes() + b"\n")
    train, rest = (torch.frombuffer(bytearray(b"".join(p) or b"\0"), dtype=torch.uint8) for p in parts)
    if train.numel() < 100_000 or rest.numel() < 10_000:
        raise UserError(f"{root}: Python's library source is not installed there, the demonstration needs it")
    return train, rest


def windows(text: Tensor, starts: Tensor, length: int) -> Tensor:
    """Rows of `length` bytes at `starts [N]`, as token ids `[N, length]`."""
    return text[starts[:, None] + torch.arange(length)].long()


def random_starts(text: Tensor, count: int, length: int, generator: torch.Generator) -> Tensor:
    """`count` places at which a window fits."""
    return torch.randint(0, text.numel() - length, (count,), generator=generator)
