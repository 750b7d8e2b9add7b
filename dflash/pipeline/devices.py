"""Lists of devices as a configuration writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch

from dflash.errors import UserError


def expand(names: Sequence[str], key: str) -> tuple[str, ...]:
    """`["cuda:0-2", "cpu"]` is `("cuda:0", "cuda:1", "cuda:2", "cpu")`; raises UserError for another form."""
    found: list[str] = []
    for name in names:
        span = re.fullmatch(r"([a-z]+):(\d+)-(\d+)", name)
        if span is None:
            found.append(name)
        elif int(span[2]) > int(span[3]):
            raise UserError(f"{key} {name!r}: the lower number comes first")
        else:
            found += [f"{span[1]}:{i}" for i in range(int(span[2]), int(span[3]) + 1)]
    for name in found:
        require(name, key)
    return tuple(found)


def require(name: str, key: str = "device") -> None:
    """Raise UserError unless torch can use the device."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"{key} {name!r} can't be used: {str(error).splitlines()[0]}") from None
