"""One release, asked by a command of the user's: 0 the failure is absent, 125 it can't be tested, 1 to 124 it is present.

Anything else (127: the command was not found) ends the bisect, as it does in ``git bisect run``.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from harness.errors import UserError
from harness.releases import Environment
from harness.releases.commit import commit_of

from .question import Question
from .step import Step

SKIP = 125


def environment_for(release: str, environment: Environment) -> dict[str, str]:
    """``python`` is that release's, and so is what else stands beside it; HARNESS_TORCH and HARNESS_PYTHON name them."""
    folder = str(Path(environment.interpreter).parent)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "VIRTUAL_ENV")}
    return {
        **kept,
        "PATH": os.pathsep.join([folder, os.environ.get("PATH", os.defpath)]),
        "HARNESS_TORCH": release,
        "HARNESS_PYTHON": environment.interpreter,
    }


def ask(question: Question, release: str, environment: Environment) -> Step:
    """One failing run is a fact; that none fails is one only as far as ``times`` goes.

    Raises UserError for an end that says nothing.
    """
    began, failed, last = time.monotonic(), 0, 0
    for _ in range(question.times):
        done = subprocess.run(
            ["/bin/sh", "-c", question.target], env=environment_for(release, environment), check=False,
            stdin=subprocess.DEVNULL, stdout=2,  # ours is for the answer
        )  # fmt: skip
        last = done.returncode
        if last == SKIP:
            break
        if not 0 <= last <= SKIP:
            raise UserError(f"the script ended with {_meaning(last)} on torch {release}; that says nothing about it")
        failed += last != 0
    if last == SKIP:
        step = Step(release, "skip", "the script says so (125)")
    elif failed:
        step = Step(release, "present", f"{failed} of {question.times} runs of the script failed", times=question.times, failed=failed)
    else:
        step = Step(release, "absent", f"{question.times} of {question.times} runs of the script passed", times=question.times)
    seconds = round(time.monotonic() - began, 1)
    return Step(**{**step.to_json(), "others": (), "seconds": seconds, "git": commit_of(environment.interpreter)})


def _meaning(status: int) -> str:
    if status < 0 or 128 < status <= 192:
        return f"signal {-status if status < 0 else status - 128}"
    return {126: "126 (it can't be executed)", 127: "127 (a command was not found)"}.get(status, str(status))
