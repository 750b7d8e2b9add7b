"""Where environments are kept: one folder for each (torch, Python), below the user's cache folder.

``ready.json`` in it is written last; a folder without one is broken and is made again, never used.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.version import InvalidVersion, Version

from harness.errors import UserError

_NAME = re.compile(r"torch-(?P<torch>[^-]+)-py(?P<python>\d+\.\d+)")


def folder() -> Path:
    """``HARNESS_ENVS``, or ``switchpoint/envs`` in the user's cache folder."""
    own = os.environ.get("HARNESS_ENVS")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "switchpoint", "envs")


@dataclass(frozen=True)
class Environment:
    """torch, python  versions, as ``2.12.1`` and ``3.11``
    source         where torch is from: cpu, full or standins; ``this`` is the interpreter that we run in
    """

    torch: str
    python: str
    source: str
    path: Path

    @property
    def interpreter(self) -> str:
        return sys.executable if self.source == "this" else str(self.path / "bin" / "python")

    @property
    def size(self) -> int:
        """Bytes of its files; files that an installer's cache shares count too."""
        return sum(entry.stat().st_size for entry in self.path.rglob("*") if entry.is_file() and not entry.is_symlink())


def this_python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def release(text: str) -> str:
    """Raises UserError where it is no version."""
    try:
        return str(Version(text))
    except InvalidVersion:
        raise UserError(f"{text!r} is no version of torch (2.12.1, say)") from None


def path_of(torch: str, python: str) -> Path:
    return folder() / f"torch-{torch}-py{python}"


def read(path: Path) -> Environment | None:
    """None where it is not complete."""
    named = _NAME.fullmatch(path.name)
    try:
        ready = json.loads((path / "ready.json").read_text())
        source = str(ready["source"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if named is None or not (path / "bin" / "python").exists():
        return None
    return Environment(named["torch"], named["python"], source, path)


def find(torch: str, python: str = "") -> Environment | None:
    return read(path_of(release(torch), python or this_python()))


def this_release() -> str:
    """Of the torch that this interpreter has, without a local part; empty where it has none."""
    try:
        return Version(version("torch")).public
    except (PackageNotFoundError, InvalidVersion):
        return ""


def here(torch: str, python: str = "") -> Environment | None:
    """This interpreter, where it has that release: then there is nothing to make."""
    mine = this_release()
    if not mine or (python or this_python()) != this_python() or torch not in (mine, version("torch")):
        return None
    return Environment(str(Version(torch)), this_python(), "this", Path(sys.prefix))


def at_hand(torch: str, python: str = "") -> Environment | None:
    """An environment, or this interpreter. Raises UserError where ``torch`` is no version."""
    return find(torch, python) or here(release(torch), python)


def installed() -> list[Environment]:
    """All that are complete, by release."""
    if not folder().is_dir():
        return []
    found = [environment for path in folder().iterdir() if (environment := read(path)) is not None]
    return sorted(found, key=lambda e: (Version(e.torch), Version(e.python)))


def remove(torch: str, python: str = "") -> int:
    """How many environments of that release were removed, broken ones too."""
    torch = release(torch)
    names = [f"torch-{torch}-py{python}"] if python else None
    removed = 0
    for path in list(folder().iterdir()) if folder().is_dir() else []:
        if path.is_dir() and (path.name in names if names else path.name.startswith(f"torch-{torch}-py")):
            with locked(path):
                shutil.rmtree(path, ignore_errors=True)
                removed += 1
    return removed


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time makes or removes ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
