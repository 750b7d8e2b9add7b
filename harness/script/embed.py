"""The source of a scenario without the harness: its imports of us give way to a few lines in the script itself.

Every other line stays where it is within its function, since points of the scenario's own code count lines.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

from harness.errors import UserError

#: What the script has a stand-in for.
STAND_INS = {"Scenario", "marker", "thread_index", "TORCH_MODULES", "Axes", "Plain"}


def embed(file: Path, module: str, done: set[str] | None = None) -> str:
    """The file's text, preceded by that of modules of its own package that it imports from.

    Raises UserError where it imports what is neither torch nor in the standard library.
    """
    done = set() if done is None else done
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    before: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Import, ast.ImportFrom, ast.If)):
            continue
        if _is_main(node) if isinstance(node, ast.If) else _taken_out(node, file, module, before, done):
            indent = " " * node.col_offset
            lines[node.lineno - 1] = f"{indent}pass" if indent else ""
            for number in range(node.lineno, node.end_lineno or node.lineno):
                lines[number] = ""
    return "\n".join([*before, "\n".join(lines).strip("\n")]) + "\n"


def _is_main(node: ast.If) -> bool:
    return ast.unparse(node.test).replace('"', "'") == "__name__ == '__main__'"


def _taken_out(node: ast.Import | ast.ImportFrom, file: Path, module: str, before: list[str], done: set[str]) -> bool:
    if isinstance(node, ast.Import):
        for alias in node.names:
            _require(alias.name, file, node.lineno)
        return False
    name = "." * node.level + (node.module or "")
    if node.level:
        package = module.rpartition(".")[0]
        name = importlib.util.resolve_name(name, package)
        if any(alias.asname or alias.name == "*" for alias in node.names):
            raise UserError(f"{file}:{node.lineno}: a script can take over `from {name} import …` only without `as` and `*`")
        if name not in done:
            done.add(name)
            spec = importlib.util.find_spec(name)
            if spec is None or not spec.origin:
                raise UserError(f"{file}:{node.lineno}: {name} has no source that a script could take over")
            before.append(embed(Path(spec.origin), name, done))
        return True
    if name == "__future__":
        return True
    if name.split(".")[0] == "harness":
        missing = [alias.name for alias in node.names if alias.name not in STAND_INS or alias.asname]
        if missing:
            raise UserError(f"{file}:{node.lineno}: a script has no stand-in for {missing[0]} of {name}")
        return True
    _require(name, file, node.lineno)
    return False


def _require(name: str, file: Path, line: int) -> None:
    top = name.split(".")[0]
    if top != "torch" and top not in sys.stdlib_module_names:
        raise UserError(f"{file}:{line}: it imports {name}: a script has torch and the standard library only")
