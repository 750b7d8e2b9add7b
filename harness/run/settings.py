"""Settings of the process that no module has as a name of its own: the interpreter's, its libraries', torch's in C."""

from __future__ import annotations

import atexit
import builtins
import decimal
import gc
import hashlib
import locale
import logging
import os
import random
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .death import children

#: Getters without arguments. Where a release has no such one, there is nothing to compare.
_OF_TORCH = (
    "get_default_dtype", "get_default_device", "get_num_threads", "is_grad_enabled", "is_inference_mode_enabled",
    "is_anomaly_enabled", "is_anomaly_check_nan_enabled", "is_autocast_cache_enabled", "are_deterministic_algorithms_enabled",
    "is_deterministic_algorithms_warn_only_enabled", "get_deterministic_debug_mode", "is_warn_always_enabled",
    "get_float32_matmul_precision",
)  # fmt: skip


AT_EXIT = "atexit, the number of functions"

#: Lists to which an import adds.
GROW = ("warnings.filters", "sys.path", "sys.meta_path", "sys.path_hooks", "gc.callbacks", "logging.root.handlers", AT_EXIT)


def settings() -> dict[str, Any]:
    """Their present values by name; what is compared by identity is its ``id``."""
    return dict(_all())


def _all() -> Iterator[tuple[str, Any]]:
    yield from ((f"os.environ[{name!r}]", value) for name, value in os.environ.items())
    yield "os.getcwd()", os.getcwd()
    yield "sys.path", list(sys.path)
    for name in ("getrecursionlimit", "getswitchinterval", "get_int_max_str_digits", "gettrace", "getprofile", "get_asyncgen_hooks"):
        if hasattr(sys, name):
            yield f"sys.{name}()", getattr(sys, name)()
    yield "sys.dont_write_bytecode", sys.dont_write_bytecode
    for name in ("get_threshold", "get_debug", "isenabled"):
        yield f"gc.{name}()", getattr(gc, name)()
    yield "gc.callbacks", _each(gc.callbacks)
    for name in ("excepthook", "unraisablehook", "displayhook", "breakpointhook", "stdin", "stdout", "stderr"):
        yield f"sys.{name}", id(getattr(sys, name, None))
    for name in ("meta_path", "path_hooks"):
        yield f"sys.{name}", _each(getattr(sys, name))
    yield "threading.excepthook", id(threading.excepthook)
    for name in ("gettrace", "getprofile", "stack_size"):
        yield f"threading.{name}()", getattr(threading, name)()
    yield AT_EXIT, list(range(atexit._ncallbacks()))
    yield "warnings.filters", [repr(one) for one in warnings.filters]
    yield "warnings.showwarning", id(warnings.showwarning)
    yield "logging.root.level", logging.root.level
    yield "logging.root.handlers", _each(logging.root.handlers)
    yield "logging.disable()", logging.root.manager.disable
    yield "random.getstate()", hashlib.sha256(repr(random.getstate()).encode()).hexdigest()
    yield "decimal.getcontext()", repr(decimal.getcontext())
    yield "locale.setlocale(LC_ALL)", locale.setlocale(locale.LC_ALL)
    for name in sorted(vars(resource)):
        if name.startswith("RLIMIT_"):
            yield f"resource.getrlimit({name})", resource.getrlimit(getattr(resource, name))
    for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"):
        yield f"signal.getitimer({name}) runs", signal.getitimer(getattr(signal, name)) != (0.0, 0.0)
    yield "signal.pthread_sigmask()", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    yield "umask", _umask()
    yield "the number of child processes", len(children())
    if "socket" in sys.modules:
        yield "socket.getdefaulttimeout()", sys.modules["socket"].getdefaulttimeout()
    yield from ((f"builtins.{name}", id(value)) for name, value in vars(builtins).items() if name != "_")
    for number in signal.valid_signals():
        yield f"signal.getsignal({number!s})", id(signal.getsignal(number))
    for thread in threading.enumerate():
        yield f"the thread {thread.name}", id(thread)
    torch = sys.modules.get("torch")
    for name in _OF_TORCH if torch is not None else ():
        getter = getattr(torch, name, None)
        if getter is not None:
            yield f"torch.{name}()", str(getter())


def _umask() -> str:
    """Asked of the kernel: ``os.umask`` tells it only in setting it."""
    try:
        return next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask"))
    except (OSError, StopIteration):
        return ""


def _each(values: Any) -> list[int]:
    return [id(value) for value in values]
