"""Makes an environment of a torch release with ``uv``, and with as little in it as a run needs.

cpu       torch's own wheels for CPUs, from PyTorch's index or one that is given
full      the wheel of the configured package index with all it asks for (CUDA libraries: some 7 GB)
standins  the same wheel alone, and empty stand-ins for the CUDA libraries: some 1.5 GB, nothing that calls CUDA
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path

from packaging.requirements import Requirement

from harness.errors import CannotTest, UserError

from . import cache, standins
from .cache import Environment

SOURCES = ("auto", "cpu", "full", "standins")
#: PyTorch's own wheels for CPUs.
INDEX = "https://download.pytorch.org/whl/cpu"
_BYTES = {"cpu": 1.5e9, "standins": 2.0e9, "full": 9e9}
_NOT_NEEDED = ("nvidia-", "cuda-", "triton", "pytorch-triton")
_TREE = " \u00d7\u2570\u2500\u25b6\u2502\u251c"  # what uv draws
_REACHABLE = 3.0  # seconds


def add(
    torch: str, python: str = "", *, source: str = "auto", index: str = "", tell: Callable[[str], None] = lambda _: None
) -> Environment:
    """The environment, made where it is not there yet or broken.

    Raises UserError for a release, Python or source that there is not, and where the disk is too small; CannotTest
    where this machine can't have it.
    """
    torch, python = cache.release(torch), python or cache.this_python()
    path = cache.path_of(torch, python)
    with cache.locked(path):
        have = cache.read(path)
        if have is not None and source in ("auto", have.source):
            return have
        chosen = _source(source, index)
        _room(path.parent, chosen)
        shutil.rmtree(path, ignore_errors=True)
        tell(f"torch {torch} for Python {python}: {chosen}")
        try:
            _uv("venv", "--python", python, str(path), what=f"Python {python}")
            _install(path, f"torch=={torch}", chosen, index)
            _check(path, torch)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        (path / "ready.json").write_text(json.dumps({"source": chosen, "torch": torch, "python": python}))
        made = cache.read(path)
        assert made is not None
        return made


def _source(asked: str, index: str) -> str:
    if asked not in SOURCES:
        raise UserError(f"source {asked!r}: {', '.join(SOURCES)}")
    if index and asked not in ("auto", "cpu"):
        raise UserError(f"an index is for source cpu, not for {asked}")
    if asked != "auto":
        return asked
    if index:
        return "cpu"
    if shutil.which("nvidia-smi"):
        return "full"
    if _reachable(INDEX):
        return "cpu"
    return "full" if standins.possible() else "standins"


def _reachable(url: str) -> bool:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=_REACHABLE):
            return True
    except (OSError, ValueError):  # URLError is an OSError
        return False


def _room(folder: Path, source: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < _BYTES[source]:
        raise UserError(f"{folder}: {free / 1e9:.1f} GB free; an environment ({source}) takes up to {_BYTES[source] / 1e9:.1f} GB")


def into(path: Path, wheel: str, *, source: str = "auto", index: str = "", folder: str = "") -> None:
    """Put torch into an environment that is there: ``wheel`` is what is asked for, as ``torch==2.12.*``.

    folder  with wheels, in place of every index for torch itself
    Raises UserError where it can't be installed, CannotTest where this machine can't have it.
    """
    if folder:
        find = ("--no-index", "--find-links", folder)
        _uv("pip", "install", "--python", _python(path), "--prerelease", "allow", "--no-deps", *find, wheel, what=f"{wheel} in {folder}")
        _rest(path, wheel, standins_needed=lambda: bool(_problem(path, "")))  # it may be a wheel for CPUs
    else:
        _install(path, wheel, _source(source, index), index)


def _install(path: Path, wheel: str, source: str, index: str) -> None:
    if source == "cpu":
        # a wheel of the same release from another index would be the CUDA build
        given = ("--index", index or INDEX, "--index-strategy", "first-index")
        _uv("pip", "install", "--python", _python(path), *given, wheel, what=wheel)
    elif source == "full":
        _uv("pip", "install", "--python", _python(path), wheel, what=wheel)
    else:
        _uv("pip", "install", "--python", _python(path), "--no-deps", wheel, what=wheel)
        _rest(path, wheel)


def _rest(path: Path, wheel: str, standins_needed: Callable[[], bool] = lambda: True) -> None:
    """What a wheel that was installed alone still lacks."""
    if light := _light(path):
        _uv("pip", "install", "--python", _python(path), *light, what=wheel)
    if standins_needed():
        standins.build(_site(path) / "torch" / "lib")


def _light(path: Path) -> list[str]:
    """What that torch asks for, CUDA and Triton left out."""
    (metadata,) = _site(path).glob("torch-*.dist-info/METADATA")
    wanted = []
    for line in metadata.read_text().splitlines():
        name, _, text = line.partition(": ")
        if name == "Requires-Dist":
            requirement = Requirement(text)
            asked_for = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if asked_for and not requirement.name.startswith(_NOT_NEEDED):
                wanted.append(f"{requirement.name}{requirement.specifier}")
    return wanted


def _site(path: Path) -> Path:
    (site,) = path.glob("lib/python3*/site-packages")
    return site


def _python(path: Path) -> str:
    return str(path / "bin" / "python")


def _check(path: Path, torch: str) -> None:
    if said := _problem(path, torch):
        raise CannotTest(f"torch {torch} was installed but does not import: {said}")


def _problem(path: Path, torch: str) -> str:
    """What its import says; empty where it is that release."""
    command = [_python(path), "-I", "-c", "import torch; print(torch.__version__)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.startswith(torch):
        died = f"killed by signal {-done.returncode}" if done.returncode < 0 else "nothing"
        return (done.stderr.strip() or done.stdout.strip() or died).splitlines()[-1]
    return ""


def _uv(*arguments: str, what: str) -> None:
    done = subprocess.run([_uv_path(), "--quiet", *arguments], capture_output=True, text=True, check=False, env=_environment())
    if done.returncode:
        raise UserError(f"{what}: {_said(done.stderr)}")


def _said(text: str) -> str:
    """The sentence that says why; uv draws a tree around it."""
    lines = [line.lstrip(_TREE) for line in text.splitlines()]
    return " ".join(line for line in lines if line and not line.startswith("hint:"))[:400] or "uv failed and said nothing"


def _uv_path() -> str:
    if importlib.util.find_spec("uv") is not None:
        from uv import find_uv_bin

        return str(find_uv_bin())
    found = shutil.which("uv")
    if found is None:
        raise UserError("environments are made with uv, which is not installed: pip install uv")
    return found


def _environment() -> dict[str, str]:
    """uv is not to look at the environment that we run in."""
    return {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH", "UV_PROJECT_ENVIRONMENT")}
