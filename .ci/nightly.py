"""Installs PyTorch's nightly build into this environment; one line and status 1 where it can't be had.

TORCH_NIGHTLY_INDEX is an index, or a folder with wheels.
"""

from __future__ import annotations

import os
import sys
import urllib.request
from importlib.metadata import version
from pathlib import Path

from harness.errors import CannotTest, UserError
from harness.releases import NIGHTLY
from harness.releases.install import into

INDEX = os.environ.get("TORCH_NIGHTLY_INDEX") or NIGHTLY


def main() -> str | None:
    """None, or what is wrong."""
    try:
        if "://" in INDEX:
            urllib.request.urlopen(f"{INDEX.rstrip('/')}/torch/", timeout=30).close()
            into(Path(sys.prefix), "torch>=0.dev0", source="cpu", index=INDEX)
        else:
            into(Path(sys.prefix), "torch", folder=INDEX)
    except (OSError, ValueError) as error:
        return f"{INDEX} can't be reached ({error}); set TORCH_NIGHTLY_INDEX to an index or a folder that can"
    except (UserError, CannotTest) as error:
        return str(error)
    if ".dev" not in version("torch"):
        return f"{INDEX} gave torch {version('torch')}, which is no nightly build"
    return None


if __name__ == "__main__":
    wrong = main()
    sys.exit(f"torch-nightly: {wrong}" if wrong else 0)
