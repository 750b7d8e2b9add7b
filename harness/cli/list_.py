"""what there is: scenarios, fixes, oracles, strategies"""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

from harness.fixes import find_fix, fix_names
from harness.run.outcome import ORDER
from harness.scenario import builtin
from harness.scenario.load import builtin_names
from harness.scenario.registered import registered, summary
from harness.search import STRATEGIES

from .options import emit


def arguments(parser: argparse.ArgumentParser) -> None:
    pass


def _summary(name: str) -> str:
    """From the file's text: nothing is imported, torch least of all."""
    path = Path(next(iter(builtin.__path__))) / f"{name.replace('.', '_', 1)}.py"
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def run(options: argparse.Namespace) -> int:
    scenarios = {name: _summary(name) for name in builtin_names()}
    scenarios |= {name: summary(value) for name, value in registered().items()}
    fixes = {name: find_fix(name).summary for name in ["none", *fix_names()]}
    if options.json:
        emit({"scenarios": scenarios, "fixes": fixes, "oracles": list(ORDER), "strategies": list(STRATEGIES)})
        return 0
    for title, rows in (("scenarios", scenarios), ("fixes", fixes)):
        print(title)
        for name, line in rows.items():
            print(f"  {name:24} {line}")
    print("outcomes\n  " + ", ".join(("ok", *ORDER)))
    print("strategies\n  " + ", ".join(STRATEGIES))
    return 0
