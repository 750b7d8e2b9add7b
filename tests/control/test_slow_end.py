"""A thread that takes long to end in C is no thread that is blocked."""

from __future__ import annotations

import threading

from support.inline import Inline

from harness.control import raw


class Slow:
    """A value of a thread that is let go after the thread's Python code has ended."""

    def __del__(self) -> None:
        raw.sleep(0.3)


def test_whoever_joins_it_is_not_either(inline: Inline) -> None:
    local = threading.local()

    def joins(_: None) -> None:
        thread = threading.Thread(target=lambda: setattr(local, "value", Slow()))
        thread.start()
        thread.join()

    report = inline.run([joins, lambda _: None])
    assert (report.outcome, report.uncontrolled) == ("ok", [])
