"""Scenario files made of a few lines, and the processes that a run may have left."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from textwrap import dedent

_HEAD = """
import ctypes, os, queue, signal, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from harness import Scenario, marker, thread_index
"""
_names = itertools.count()

#: Bodies that say through a pipe with a name, ``fifo``, that they have begun, and never end.
ENDLESS = """
def body(shared):
    with open({fifo!r}, "w"):
        pass
    while True:
        pass
scenario = Scenario([body, body], seconds=100_000.0)
"""


def write(folder: Path, source: str, name: str = "") -> str:
    """Write a scenario file and return the reference of ``scenario`` in it."""
    path = folder / f"{name or f'case{next(_names)}'}.py"
    path.write_text(_HEAD + dedent(source))
    return f"{path}:scenario"


def processes_of(text: str) -> list[int]:
    """Living processes with ``text`` in their command line; a forked one has its parent's."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                if text.encode() in Path(f"/proc/{entry}/cmdline").read_bytes():
                    found.append(int(entry))
            except OSError:
                continue
    return found


def children_of(pid: int) -> list[int]:
    """Living or unreaped children."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
