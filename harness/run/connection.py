"""The client's end of a socket to a process that runs are forked from."""

from __future__ import annotations

import socket
from typing import Any

from . import wire


class Connection:
    """``ours`` stays here, ``theirs`` is for the process; both ends are closed by :meth:`close`."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self._reader = wire.Reader()

    def fileno(self) -> int:
        return self.ours.fileno()

    def send(self, message: dict[str, Any], *handed_over: int) -> None:
        """Raises OSError when the process has ended. ``handed_over`` are open files that go with the message."""
        data = memoryview(wire.pack(message))
        sent = socket.send_fds(self.ours, [data], list(handed_over)) if handed_over else 0
        self.ours.sendall(data[sent:])

    def receive(self) -> list[dict[str, Any]] | None:
        """What has arrived; None at the end."""
        try:
            data = self.ours.recv(1 << 20)
        except ConnectionResetError:  # it was killed with a message unread
            return None
        return self._reader.feed(data) if data else None

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()
