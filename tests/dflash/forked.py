"""Ranks as forks of one process: torch is imported once for all of them."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any


def run(count: int, body: Callable[[Path], Any], root: Path) -> None:
    """Run `body(root)` in `count` processes that have the environment of torchrun's ranks; ends this process."""
    import torch.distributed as dist

    store = dist.TCPStore("127.0.0.1", 0, None, is_master=True, wait_for_workers=False)
    common = {"WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": store.port}
    os.environ.update({key: str(value) for key, value in common.items()}, TORCHELASTIC_USE_AGENT_STORE="True")
    children = []
    for rank in range(count):
        child = os.fork()
        if not child:
            os.environ["RANK"] = os.environ["LOCAL_RANK"] = str(rank)
            try:
                body(root)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    failed = [rank for rank, child in enumerate(children) if os.waitpid(child, 0)[1]]
    sys.exit(f"ranks {failed} failed" if failed else 0)


def start(count: int, module: str, body: str, root: Path) -> None:
    """`run` in a process of its own, with a function of a test module; raises AssertionError with what it said."""
    here = Path(__file__).parent
    paths = [str(here), str(here / "pipeline"), str(here.parents[1])]
    code = f"import sys; sys.path[:0] = {paths!r}; import forked, pathlib, {module} as m; "
    code += f"forked.run({count}, m.{body}, pathlib.Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
