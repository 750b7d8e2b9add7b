"""Python's own library as text: it is everywhere, and code has structure worth drafting."""

from __future__ import annotations

import hashlib
import sysconfig
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from dflash.errors import UserError

SKIP = {"test", "tests", "idlelib", "lib2to3", "site-packages", "__pycache__", "turtledemo", "encodings"}


class Corpus(NamedTuple):
    """Bytes (uint8) of modules to train on, to choose settings by (`validation`), and to judge by once (`test`)."""

    train: Tensor
    validation: Tensor
    test: Tensor


def load(root: Path | None = None, parts: int = 12) -> Corpus:
    """The library's modules, two of `parts` set aside by a hash of their names: the same split everywhere.

    Raises UserError where there is no source.
    """
    root = root or Path(sysconfig.get_paths()["stdlib"])
    pieces: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if SKIP & set(inside.parts):
            continue
        part = int(hashlib.sha256(str(inside).encode()).hexdigest(), 16) % parts
        pieces[{0: 1, 1: 2}.get(part, 0)].append(path.read_bytes() + b"\n")
    found = Corpus(*(torch.frombuffer(bytearray(b"".join(p) or b"\0"), dtype=torch.uint8) for p in pieces))
    if found.train.numel() < 100_000 or min(found.validation.numel(), found.test.numel()) < 10_000:
        raise UserError(f"{root}: Python's library source is not installed there, the demonstration needs it")
    return found


def windows(text: Tensor, starts: Tensor, length: int) -> Tensor:
    """Rows of `length` bytes at `starts [N]`, as token ids `[N, length]`."""
    return text[starts[:, None] + torch.arange(length)].long()


def random_starts(text: Tensor, count: int, length: int, generator: torch.Generator) -> Tensor:
    """`count` places at which a window fits."""
    return torch.randint(0, text.numel() - length, (count,), generator=generator)
