"""The baton's way to one process: a pipe, and the common state as the message."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.control import raw
from harness.control.shield import shield
from harness.run import wire

if TYPE_CHECKING:
    from .remote import RemoteController


class Way:
    """The gate of every thread of process ``index``, for the other processes; and for that one as long as it has one thread."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.read_fd, self.write_fd = os.pipe()
        self.control: RemoteController | None = None
        self._reader = wire.Reader()

    def wait(self) -> None:
        """Until the baton comes to this process. Ends the process where nobody is left to send it."""
        assert self.control is not None
        with shield():
            while True:
                block = raw.read(self.read_fd, 1 << 16)
                if not block:
                    os._exit(1)
                messages = self._reader.feed(block)
                if messages:
                    self.control.load(messages[0])
                    return

    def open(self) -> None:
        assert self.control is not None
        with shield():
            wire.write(self.write_fd, self.control.dump(self.index))

    def pass_on(self) -> None:
        """The life of a thread of our own in a process with several: all of them wait at gates within it."""
        assert self.control is not None
        while True:
            self.wait()
            assert self.control.current is not None
            self.control.current.gate.open()

    def close(self) -> None:
        os.close(self.write_fd)
        os.close(self.read_fd)
