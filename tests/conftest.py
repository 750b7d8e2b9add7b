"""What all tests share: the checkout and the helpers (``tests/support``) can be imported."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT, ROOT / "tests"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it puts in the background so, and the programs that tests interrupt would have it from here.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def no_automatic_collection() -> Iterator[None]:
    from harness.control import collector

    gc.collect()
    with collector.on_demand_only():  # the program that a test runs has it on
        yield
