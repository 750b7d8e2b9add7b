"""What torch has to be told in every process that was forked from a warm one."""

from __future__ import annotations

import subprocess
import sys

FORKS = """
import os
from harness.run import warm

warm.torch()
import torch

asked = []
torch.set_num_threads = asked.append
child = os.fork()
if child == 0:
    os._exit(len(asked))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(asked))
"""


def test_a_child_makes_its_pool_of_threads_while_it_is_alone() -> None:
    said = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True, timeout=120).stdout
    assert said.split() == ["1", "0"]
