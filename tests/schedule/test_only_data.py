"""Tokens and files are data: parsed, never evaluated, never unpickled."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from support.schedules import EXAMPLE

import harness
from harness.schedule import to_token, write_file

FOLDER = Path(harness.__file__).parent
_BANNED = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}

_WATCH = """
import sys
from pathlib import Path
from harness.errors import UserError
from harness.schedule import from_token, read_file
token, path = sys.argv[1], Path(sys.argv[2])
def each():
    for cut in range(len(token)):
        for text in (token, token[:cut], token[:cut] + "__import__('os').abort()" + token[cut:]):
            try:
                from_token(text)
            except UserError:
                pass
    read_file(path)
each()  # whatever the standard library imports at first use is there now
seen = []
sys.addaudithook(lambda event, _: seen.append(event))
each()
kinds = ("exec", "compile", "import", "pickle", "marshal", "os.", "ctypes", "subprocess")
print(sorted({event for event in seen if event.startswith(kinds)}))
print(sorted({"pickle", "_pickle", "marshal"} & set(sys.modules) - {"marshal"}))
"""


def test_parsing_runs_and_imports_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    write_file(path, EXAMPLE)
    done = subprocess.run(
        [sys.executable, "-c", _WATCH, to_token(EXAMPLE), str(path)],
        cwd=FOLDER.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["[]", "[]"]


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_file_imports_pickle_or_calls_eval(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.name.split(".")[0] for alias in node.names} | {
                (getattr(node, "module", None) or "").split(".")[0]
            }
            assert not names & _BANNED
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "eval"
            assert node.func.id != "exec" or path.name in ("load.py", "start.py"), "only what the user names as a program is executed"
