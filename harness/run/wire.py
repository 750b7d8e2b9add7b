"""Messages between processes: four bytes of length, then JSON. Never pickle."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_HEAD = struct.Struct("!I")


def pack(message: Any) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return _HEAD.pack(len(body)) + body


def write(fd: int, message: Any) -> None:
    data = memoryview(pack(message))
    while data:
        data = data[os.write(fd, data) :]


class Reader:
    """Collects what arrives until messages are whole."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        self._buffer += data
        found = []
        while len(self._buffer) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._buffer)
            if len(self._buffer) < _HEAD.size + size:
                break
            found.append(json.loads(bytes(self._buffer[_HEAD.size : _HEAD.size + size])))
            del self._buffer[: _HEAD.size + size]
        return found
