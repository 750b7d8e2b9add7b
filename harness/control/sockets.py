"""Receiving from a socket that another thread, or another process, sends to, under control."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from . import active
from .files import READ, Readiness, wait_for


def _waiting(real: Callable[..., Any]) -> Callable[..., Any]:
    def receive(self: Any, *args: Any, **kwargs: Any) -> Any:
        me = active.managed()
        timeout = self.gettimeout() if me is not None else 0.0
        if me is not None and timeout != 0.0:
            files = [(self.fileno(), READ)]
            wait_for(me, files, "socket", timeout)
            if timeout is not None and not Readiness(files).now():
                raise TimeoutError("timed out")
        return real(self, *args, **kwargs)

    return receive


#: (where, name, replacement), as in :mod:`harness.control.install`.
TABLE: list[tuple[Any, str, Any]] = [
    (socket.socket, name, _waiting(getattr(socket.socket, name)))
    for name in ("accept", "recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg", "recvmsg_into")
]
