"""What was found out before: a small file for each question in the user's cache folder, whole or absent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.releases import cache
from harness.schedule import write_text


def folder(kind: str) -> Path:
    return cache.folder().parent / kind


def key_of(asked: Mapping[str, Any]) -> str:
    """32 hexadecimal digits for all that decides the answer."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:16]


def recall(kind: str, key: str) -> Any:
    """None where it was not asked before; a file that can't be read was not written by us."""
    try:
        return json.loads((folder(kind) / f"{key}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def keep(kind: str, key: str, answer: Any) -> None:
    """On the disk when this returns. Raises UserError where it can't be."""
    write_text(folder(kind) / f"{key}.json", json.dumps(answer) + "\n")
