"""Small modules, written and scanned."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from support.scanned import Scan, Scanned

from harness.states import scan

_names = itertools.count()


@pytest.fixture
def scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scan]:
    monkeypatch.syspath_prepend(tmp_path)
    made: list[str] = []

    def make(*sources: str) -> Scanned:
        """Modules ``a``, ``b``: each may import the earlier ones by that name."""
        names = [f"scanned_{next(_names)}_{letter}" for letter, _ in zip("ab", sources, strict=False)]
        for name, source in zip(names, sources, strict=True):
            text = dedent(source)
            for letter, real in zip("ab", names, strict=False):
                text = text.replace(f"MODULE_{letter}", real)
            (tmp_path / f"{name}.py").write_text(text)
            importlib.import_module(name)
            made.append(name)
        return Scanned(names, scan(names))

    yield make
    for name in made:
        del sys.modules[name]
