"""Scenarios of other packages, by name: the entry points of the group ``harness.scenarios``.

    [project.entry-points."harness.scenarios"]
    "trainer.threads" = "dflash.scenarios.trainer_threads:SCENARIO"

A checkout that is on the path but not installed has no entry points; its ``pyproject.toml`` says the same.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from typing import Any

GROUP = "harness.scenarios"


def registered() -> dict[str, str]:
    """Name to ``package.module:attribute``. Nothing is imported."""
    found = dict(_of_checkout())
    found.update({point.name: point.value for point in importlib.metadata.entry_points(group=GROUP)})
    return found


def resolve(reference: str) -> str:
    """What a registered name stands for; everything else as it is."""
    return registered().get(reference, reference)


def summary(value: str) -> str:
    """The first line of the documentation of the module that ``package.module:attribute`` names; not imported."""
    package, _, rest = value.partition(":")[0].partition(".")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return ""
    path = Path(next(iter(spec.submodule_search_locations))).joinpath(*rest.split("."))
    try:
        return (ast.get_docstring(ast.parse(path.with_suffix(".py").read_text())) or "").partition("\n")[0]
    except (OSError, SyntaxError):
        return ""


def _of_checkout() -> dict[str, str]:
    path = Path(__file__).parents[2] / "pyproject.toml"
    if not path.is_file():
        return {}
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib  # pytest brings it; an environment that is for runs alone doesn't need it
        except ImportError:
            return {}
    project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    return project.get("entry-points", {}).get(GROUP, {})
