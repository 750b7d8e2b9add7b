"""What a fork shares instead of copying it: semaphores, values and queues of ``multiprocessing``, anonymous shared memory, pipes.

What is there before a run begins is there for all runs of the same parent, those beside it too: a semaphore that one run
ended with, or is parked with, would be taken in the next, and what it left in a pipe be read there. Each run gets a copy,
which its own children share with it. Left as they are: what has a name in the file system, since others find it by that;
files on disk; sockets; pipes whose other end another process has; and memory of more than 64 MiB, which is slow to copy.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import stat
import termios
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_FIXED = 0x10  # MAP_FIXED
_MOST = 1 << 26
_IN_MEMORY = ("/dev/shm/", "/dev/zero", "/memfd:")  # what the kernel calls anonymous memory is /dev/zero
_STANDARD = 3  # descriptors that every run has its own of


@dataclass(frozen=True)
class Mapping:
    """``file``: device and inode of what is mapped from ``offset`` on."""

    address: int
    length: int
    writable: bool
    offset: int
    file: tuple[int, int]


@dataclass(frozen=True)
class Shared:
    """``pipes``: the descriptors of each, for reading and for writing."""

    mappings: list[Mapping]
    pipes: list[tuple[list[int], list[int]]]

    def own(self) -> None:
        """Called in a child. Raises OSError where memory is short."""
        _own_memory(self.mappings)
        for reads, writes in self.pipes:
            _own_pipe(reads, writes)


def shared() -> Shared:
    """What this process shares with its children, and nobody else has."""
    return Shared(_mappings(), _pipes())


def _mappings() -> list[Mapping]:
    found, written, left = [], set(), set()
    with open("/proc/self/maps") as maps:
        for line in maps:
            where, access, offset, device, inode, *path = line.split(maxsplit=5)
            if access[3] != "s" or not path or not path[0].rstrip().endswith(" (deleted)"):
                continue
            begin, end = (int(part, 16) for part in where.split("-"))
            major, minor = (int(part, 16) for part in device.split(":"))
            file = os.makedev(major, minor), int(inode)
            if access[1] == "w":
                written.add(file)
            # Code is libffi's, say: it is mapped twice, and never changes.
            if access[0] != "r" or access[2] == "x" or end - begin > _MOST or not path[0].startswith(_IN_MEMORY):
                left.add(file)
            found.append(Mapping(begin, end - begin, access[1] == "w", int(offset, 16), file))
    return [mapping for mapping in found if mapping.file in written - left]


def _own_memory(mappings: Sequence[Mapping]) -> None:
    copies: dict[tuple[int, int], int] = {}
    of_file = _descriptors({mapping.file for mapping in mappings}) if mappings else {}
    for mapping in mappings:
        copy = copies.get(mapping.file)
        if copy is None:
            copy = copies[mapping.file] = os.memfd_create("shared")
            for fd in of_file.get(mapping.file, [])[:1]:
                os.ftruncate(copy, os.fstat(fd).st_size)
        if mapping.file not in of_file:  # its size is not known; what lies behind it in its last page is nothing
            os.ftruncate(copy, max(os.fstat(copy).st_size, mapping.offset + mapping.length))
        length = max(0, min(mapping.length, os.fstat(copy).st_size - mapping.offset))
        os.pwrite(copy, (ctypes.c_char * length).from_address(mapping.address), mapping.offset)
    for mapping in mappings:
        access = mmap.PROT_READ | (mmap.PROT_WRITE if mapping.writable else 0)
        at = _libc.mmap(
            mapping.address, mapping.length, access, mmap.MAP_SHARED | _FIXED, copies[mapping.file], mapping.offset
        )
        if at != mapping.address:
            raise OSError(ctypes.get_errno(), "a run's own copy of shared memory")
    for file, descriptors in of_file.items():
        for fd in descriptors:
            _reopen(copies[file], fd)
    for copy in copies.values():
        os.close(copy)


def _reopen(copy: int, fd: int) -> None:
    """``fd`` is of the copy, as it was of the file."""
    opened = os.open(f"/proc/self/fd/{copy}", fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_ACCMODE | os.O_APPEND))
    os.lseek(opened, os.lseek(fd, 0, os.SEEK_CUR), os.SEEK_SET)
    os.dup2(opened, fd, inheritable=os.get_inheritable(fd))
    os.close(opened)


def _descriptors(files: set[tuple[int, int]]) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the listing's own is gone
            status = os.fstat(int(name))
            if (status.st_dev, status.st_ino) in files:
                found.setdefault((status.st_dev, status.st_ino), []).append(int(name))
    return found


def _pipes() -> list[tuple[list[int], list[int]]]:
    """Those of which this process has both ends."""
    found: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        with suppress(OSError):
            status = os.fstat(fd)
            if fd >= _STANDARD and stat.S_ISFIFO(status.st_mode) and os.readlink(f"/proc/self/fd/{fd}").startswith("pipe:"):
                ends = found.setdefault((status.st_dev, status.st_ino), ([], []))
                ends[fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY].append(fd)
    return [ends for ends in found.values() if all(ends)]


def _own_pipe(reads: list[int], writes: list[int]) -> None:
    read, write = os.pipe()
    size = fcntl.fcntl(reads[0], fcntl.F_GETPIPE_SZ)
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, size)
    waiting = bytearray(4)
    fcntl.ioctl(reads[0], termios.FIONREAD, waiting)
    if int.from_bytes(waiting, "little"):
        _libc.tee(reads[0], write, size, 2)  # SPLICE_F_NONBLOCK; what lies in it stays for the other runs
    for old, new in [*((fd, read) for fd in reads), *((fd, write) for fd in writes)]:
        fcntl.fcntl(new, fcntl.F_SETFL, fcntl.fcntl(old, fcntl.F_GETFL))
        os.dup2(new, old, inheritable=os.get_inheritable(old))
    os.close(read)
    os.close(write)
