"""The process that runs are forked from, as the launcher starts it.

``python -m harness.parent FD SCENARIO MODE PARENT [POINTS... fix=NAME...]`` talks over the socket FD to the process PARENT. A
scenario's is :mod:`harness.run.zygote`, a program's :mod:`harness.program.parent`.
"""

from __future__ import annotations

import signal
import socket
import sys

from harness.control import install

install.install()  # before anything else makes a lock

from harness.errors import UserError  # noqa: E402
from harness.program.command import PREFIX  # noqa: E402
from harness.run import warm, wire  # noqa: E402
from harness.run.death import adopt_orphans, die_with_parent  # noqa: E402
from harness.run.world import World  # noqa: E402
from harness.run.zygote import Zygote, serve  # noqa: E402


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client decides when to stop
    fixes = [word.removeprefix("fix=") for word in sys.argv[5:] if word.startswith("fix=")]
    points = [word for word in sys.argv[5:] if not word.startswith("fix=")]
    fd, reference, free, parent = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "free", int(sys.argv[4])
    die_with_parent(parent)
    adopt_orphans()
    client = socket.socket(fileno=fd)
    if reference.startswith(PREFIX):
        from harness.program.parent import main as of_program  # a scenario's process has no use for it

        of_program(client, reference, free, parent, fixes)
    else:
        _of_scenario(client, reference, free, points, parent, fixes)


def _of_scenario(client: socket.socket, reference: str, free: bool, points: list[str], parent: int, fixes: list[str]) -> None:
    try:
        world = World(reference, free=free, points=points or None, fixes=fixes)
        warm.assert_single_threaded(reference)
    except UserError as error:
        client.sendall(wire.pack({"error": str(error)}))
        return
    serve(Zygote(client, world), world.about(), parent)


if __name__ == "__main__":
    main()
