"""Which releases of torch an index has, in the order of PEP 440: for which Python, and whether they were yanked."""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from harness.errors import UserError

#: PyTorch's own nightly builds for CPUs.
NIGHTLY = "https://download.pytorch.org/whl/nightly/cpu"
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_SECONDS = 30.0


@dataclass(frozen=True)
class Published:
    """version  without a local part (``+cpu``)
    yanked   why, or ``yes``; empty where it is not
    pythons  ``3.11`` and so on: those for which there is a wheel for this machine
    """

    version: str
    yanked: str
    pythons: frozenset[str]


def published(index: str = "") -> list[Published]:
    """All that an index has, oldest first. ``index`` is a URL, or a folder with wheels; default: the one that is
    configured for uv or pip in the environment, else PyPI.

    Raises UserError where it can't be read.
    """
    found: dict[Version, list[tuple[str, frozenset[str]]]] = {}
    index = index or _configured()
    for name, yanked in _files(index):
        try:
            _, version, _, tags = parse_wheel_filename(name)
        except (InvalidWheelFilename, InvalidVersion):
            continue
        pythons = frozenset(
            python for tag in tags if _here(tag.platform) and (python := _python(tag.interpreter, tag.abi))
        )
        found.setdefault(Version(version.public), []).append((yanked, pythons))
    if not found:
        raise UserError(f"{_shown(index)}: no wheel of torch there")
    return [
        Published(
            str(version),
            # a release is yanked when all its files are
            "" if any(not yanked for yanked, _ in files) else files[0][0],
            frozenset().union(*(pythons for _, pythons in files)),
        )
        for version, files in sorted(found.items())
    ]


def _configured() -> str:
    """By the environment; else pip's own default. Raises UserError where there is neither."""
    names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
    named = next((value for name in names if (value := os.environ.get(name))), "")
    if named:
        return named
    try:
        default = importlib.import_module("pip._internal.models.index").PyPI.simple_url
    except (ImportError, AttributeError):
        raise UserError("no package index is configured: name one in UV_DEFAULT_INDEX or with --index") from None
    return str(default)


def _shown(index: str) -> str:
    """Without a password."""
    return re.sub(r"//[^/@]*@", "//", index)


def _here(wheel: str) -> bool:
    return wheel == "any" or ("linux" in wheel and wheel.endswith(platform.machine()))


def _python(interpreter: str, abi: str) -> str:
    """``cp311`` with the usual ABI is ``3.11``; empty for what is not for CPython with the GIL."""
    match = re.fullmatch(r"cp3(\d+)", interpreter)
    return f"3.{match[1]}" if match and abi in (interpreter, "abi3", "none") else ""


def _files(index: str) -> Iterable[tuple[str, str]]:
    """(file name, why it was yanked)"""
    folder = Path(urllib.parse.unquote(index.removeprefix("file://")))
    if "://" not in index or index.startswith("file://"):
        try:
            names = os.listdir(folder / "torch" if (folder / "torch").is_dir() else folder)
        except OSError as error:
            raise UserError(f"{folder}: {error.strerror}") from None
        return [(name, "") for name in names if name.startswith("torch-")]
    request = urllib.request.Request(f"{index.rstrip('/')}/torch/", headers={"Accept": _ACCEPT})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            text, kind = answer.read().decode("utf-8", "replace"), answer.headers.get("content-type", "")
        return list(_from_json(text) if "json" in kind else _from_html(text))
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "reason", error)
        raise UserError(
            f"which releases there are can't be asked of {_shown(index)} ({reason}); --cached-only stays with those at hand"
        ) from None


def _from_json(text: str) -> Iterator[tuple[str, str]]:
    for file in json.loads(text)["files"]:
        yanked = file.get("yanked", False)
        yield file["filename"], yanked if isinstance(yanked, str) and yanked else "yes" if yanked else ""


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.files: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag == "a" and (href := about.get("href")):
            name = urllib.parse.unquote(href.partition("#")[0].rpartition("/")[2])
            self.files.append((name, (about["data-yanked"] or "yes") if "data-yanked" in about else ""))


def _from_html(text: str) -> Iterator[tuple[str, str]]:
    page = _Anchors()
    page.feed(text)
    yield from page.files
