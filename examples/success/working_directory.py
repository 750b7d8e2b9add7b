"""Nobody changes the working directory: names are made absolute with the folder at hand."""

import os
import posixpath
from typing import Any

from harness import Axes, Scenario, thread_index

FOLDERS = ("/", "/usr")


def setup(axes: Axes) -> str:
    os.chdir("/tmp")
    return os.getcwd()


def full_name(start: str) -> str:
    return posixpath.join(FOLDERS[thread_index() % 2], "file")


def check(start: str, results: list[Any]) -> None:
    assert os.getcwd() == start, "the working directory is not what it was"


working_directory = Scenario(
    bodies=(full_name, full_name),
    setup=setup,
    check=check,
    modules=("contextlib",),
    threads=(2, 2),
    summary="the folder goes into the name, the working directory stays",
)
