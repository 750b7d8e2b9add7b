"""Memory that a fork shares instead of copying it: semaphores and values of ``multiprocessing``, tensors in shared memory.

What is there before a run begins is there for all runs of the same parent, those beside it too: a semaphore that one run
ended with, or is parked with, would be taken in the next. Each run gets a copy, which its own children share with it.
What has a name in the file system stays: others find it by that.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_FIXED = 0x10  # MAP_FIXED


@dataclass(frozen=True)
class Mapping:
    """``file``: device and inode of what is mapped from ``offset`` on."""

    address: int
    length: int
    writable: bool
    offset: int
    file: tuple[int, int]


def shared() -> list[Mapping]:
    """What this process shares with its children, and has no name that leads there: files that it can write, code apart."""
    found, written, code = [], set(), set()
    with open("/proc/self/maps") as maps:
        for line in maps:
            where, access, offset, device, inode, *path = line.split(maxsplit=5)
            if access[3] != "s" or access[0] != "r" or not path or not path[0].rstrip().endswith(" (deleted)"):
                continue
            begin, end = (int(part, 16) for part in where.split("-"))
            major, minor = (int(part, 16) for part in device.split(":"))
            file = os.makedev(major, minor), int(inode)
            if access[1] == "w":
                written.add(file)
            if access[2] == "x":  # of libffi, say: it is mapped twice, and never changes
                code.add(file)
            found.append(Mapping(begin, end - begin, access[1] == "w", int(offset, 16), file))
    return [mapping for mapping in found if mapping.file in written - code]


def own(mappings: Sequence[Mapping]) -> None:
    """Called in a child. Raises OSError where memory is short."""
    copies: dict[tuple[int, int], int] = {}
    for mapping in mappings:
        copy = copies.get(mapping.file)
        if copy is None:
            copy = copies[mapping.file] = os.memfd_create("shared")
        os.ftruncate(copy, max(os.fstat(copy).st_size, mapping.offset + mapping.length))
        os.pwrite(copy, (ctypes.c_char * mapping.length).from_address(mapping.address), mapping.offset)
    for mapping in mappings:
        access = mmap.PROT_READ | (mmap.PROT_WRITE if mapping.writable else 0)
        at = _libc.mmap(
            mapping.address, mapping.length, access, mmap.MAP_SHARED | _FIXED, copies[mapping.file], mapping.offset
        )
        if at != mapping.address:
            raise OSError(ctypes.get_errno(), "a run's own copy of shared memory")
    for name in os.listdir("/proc/self/fd") if copies else ():
        with suppress(OSError):  # the listing's own is gone
            status = os.fstat(int(name))
            copy = copies.get((status.st_dev, status.st_ino))
            if copy is not None:
                os.dup2(copy, int(name), inheritable=os.get_inheritable(int(name)))
    for copy in copies.values():
        os.close(copy)
