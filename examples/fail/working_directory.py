"""Two threads change into a folder for a while, with the standard library's ``contextlib.chdir``.

Each saves the process's working directory, which only C knows, and puts it back. If the second saves while the first is
away, and the first comes back before the second does, the second takes the process to the first one's folder for good.
"""

import contextlib
import os
import posixpath
from typing import Any

from harness import Axes, Scenario, thread_index

FOLDERS = ("/", "/usr")


def setup(axes: Axes) -> str:
    os.chdir("/tmp")
    return os.getcwd()


def full_name(start: str) -> str:
    with contextlib.chdir(FOLDERS[thread_index() % 2]):
        return posixpath.join(".", "file")


def check(start: str, results: list[Any]) -> None:
    assert os.getcwd() == start, "the working directory is not what it was"


working_directory = Scenario(
    bodies=(full_name, full_name),
    setup=setup,
    check=check,
    modules=("contextlib",),
    threads=(2, 2),
    summary="two overlapping changes of the working directory leave it changed",
)
