"""Installs PyTorch's nightly build into this environment; one line and status 1 where it can't be had."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from importlib.metadata import version

INDEX = os.environ.get("TORCH_NIGHTLY_INDEX") or "https://download.pytorch.org/whl/nightly/cpu"


def main() -> str | None:
    """None, or what is wrong."""
    try:
        urllib.request.urlopen(f"{INDEX.rstrip('/')}/torch/", timeout=30).close()
    except (OSError, ValueError) as error:
        return f"{INDEX} can't be reached ({error}); set TORCH_NIGHTLY_INDEX to one that can"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--pre", "--index-url", INDEX, "torch"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return f"torch can't be installed from {INDEX}: {lines[-1] if lines else done.returncode}"
    if ".dev" not in version("torch"):
        return f"{INDEX} gave torch {version('torch')}, which is no nightly build"
    return None


if __name__ == "__main__":
    wrong = main()
    sys.exit(f"torch-nightly: {wrong}" if wrong else 0)
