"""Which source a scenario was: recorded with what was found in it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import ModuleType


def source_digest(module: ModuleType) -> str:
    """16 hexadecimal digits for the file that defines the scenario; empty where there is no file."""
    try:
        return hashlib.sha256(Path(module.__file__ or "").read_bytes()).hexdigest()[:16]
    except OSError:
        return ""
