"""Is what a model is read from a folder, or the name of a model on a hub?"""

from __future__ import annotations

from pathlib import Path

from dflash.errors import UserError


def require_place(path: str | Path, what: str) -> None:
    """Raises UserError where ``path`` can only be a folder and there is none: a name has one slash at most, and the hub would be
    asked for minutes."""
    text = str(path)
    folder = text.startswith(("/", ".", "~")) or text.count("/") > 1
    if folder and not Path(text).is_dir():
        raise UserError(f"{what} {text}: no such folder")
