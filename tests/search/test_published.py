"""Races in published packages: found in the version that had them, replayed, and not found in the one that repaired them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

CASES = [
    ("cachetools", "4.1.1", "4.2.0", "AssertionError: two connections", ["run", "--module", "cachetools"], "cachetools_cached"),
    ("sqlparse", "0.4.4", "0.5.0", "has no attribute '_SQL_REGEX'", ["run", "--module", "sqlparse"], "sqlparse_lexer"),
    ("cached-property", "1.1.0", "1.2.0", "AssertionError: ['", ["find", "--mode", "free"],
     "cached_property_ttl"),
]  # fmt: skip


def install(package: str, folder: Path) -> None:
    """A package that can't be had is a failure: what was not run has shown nothing."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), package]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if made.returncode:
        pytest.fail(f"{package} cannot be installed here: {made.stderr.strip().splitlines()[-1]}")


def search(folder: Path, words: list[str], program: str) -> tuple[int, dict[str, Any]]:
    file = f"examples/published/{program}.py"
    target = ["--", "python", file] if words[0] == "run" else [file]
    path = os.pathsep.join([str(ROOT), str(folder)])
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words, "--json", *target],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("package", "old", "new", "message", "words", "program"), CASES, ids=[case[0] for case in CASES])
def test_found_and_repaired(
    tmp_path: Path, package: str, old: str, new: str, message: str, words: list[str], program: str
) -> None:
    for version in (old, new):
        install(f"{package}=={version}", tmp_path / version)
    status, data = search(tmp_path / old, words, program)
    assert (status, data["found"], data["replay"]) == (1, True, {"times": 5, "same": 5})
    assert message in data["signature"]
    status, data = search(tmp_path / new, words, program)
    assert (status, data["found"], data["certain"]) == (0, False, True), data["rests_on"]
