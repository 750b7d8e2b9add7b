"""Which commit a torch was built from."""

from __future__ import annotations

import subprocess

# torch itself is not imported: that takes seconds
_ASK = """
import importlib.util, pathlib
spec = importlib.util.find_spec("torch")
if spec and spec.origin:
    said = {}
    exec(pathlib.Path(spec.origin).with_name("version.py").read_text(), said)
    print(said.get("git_version") or "")
"""


def commit_of(interpreter: str) -> str:
    """``torch.version.git_version``; empty where that can't be said."""
    done = subprocess.run([interpreter, "-I", "-c", _ASK], capture_output=True, text=True, check=False)
    return done.stdout.strip()
