"""Installs a release of torch into this environment: ``release.py 2.12`` is the newest of 2.12.

Wheels for CPUs from TORCH_INDEX or PyTorch's own index where one answers, else what docs/releases.md calls full or standins.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness.errors import CannotTest, UserError
from harness.releases.install import into


def main(release: str) -> str | None:
    """None, or what is wrong."""
    try:
        into(Path(sys.prefix), f"torch=={release}.*", index=os.environ.get("TORCH_INDEX", ""))
    except (UserError, CannotTest) as error:
        return str(error)
    return None


if __name__ == "__main__":
    wrong = main(sys.argv[1])
    sys.exit(f"torch {sys.argv[1]}: {wrong}" if wrong else 0)
