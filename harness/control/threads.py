"""Threads born inside a run, and waiting for a thread's end."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from . import active, raw
from .managed import Managed, Status

_join = threading.Thread.join
_is_alive = threading.Thread.is_alive


def _adopt(parent: Managed, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Managed:
    child = parent.controller.child_of(parent)
    child.body = lambda: function(*args, **kwargs)
    child.thread = getattr(function, "__self__", None)
    child.kept = isinstance(child.thread, threading.Thread) and not child.thread.daemon
    return child


def _parent() -> Managed | None:
    """Who starts a thread. A program that is run without a scenario comes under control when it starts its first."""
    parent = active.managed()
    if parent is None and active.at_first_thread is not None:
        then, active.at_first_thread = active.at_first_thread, None
        then()
        parent = active.managed()
    return parent


def _begun(child: Managed, ident: int) -> None:
    """In a program without a scenario the hand-shake of ``Thread.start`` is not among what is scheduled: who started a
    thread goes on."""
    control, thread = child.controller, child.thread
    if control.attached and isinstance(thread, threading.Thread):
        thread._ident = ident  # type: ignore[attr-defined]
        thread._started._flag = True  # type: ignore[attr-defined]
        for lock in (
            thread._started._cond._lock, getattr(threading, "_active_limbo_lock", None),  # type: ignore[attr-defined]
            getattr(threading, "_shutdown_locks_lock", None),
        ):  # fmt: skip
            control.plumbing.add(id(getattr(lock, "_block", lock)))  # what an RLock is made of


def start_new_thread(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> int:
    parent = _parent()
    if parent is None:
        return raw.start_new_thread(function, args, kwargs or {})
    child = _adopt(parent, function, args, kwargs or {})
    ident = raw.start_new_thread(child.controller.live, (child,))
    _begun(child, ident)
    parent.controller.point_here(parent, "start:" + child.name)
    return ident


def start_joinable_thread(function: Callable[..., Any], handle: Any = None, daemon: bool = True) -> Any:
    assert raw.start_joinable_thread is not None
    parent = _parent()
    handle = getattr(getattr(function, "__self__", None), "_handle", handle)  # a fork makes those of before useless
    if parent is None:
        return raw.start_joinable_thread(function, handle=handle, daemon=daemon)
    child = _adopt(parent, function, (), {})
    made = raw.start_joinable_thread(lambda: child.controller.live(child), handle=handle, daemon=daemon)
    _begun(child, made.ident)
    parent.controller.point_here(parent, "start:" + child.name)
    return made


def _record(thread: threading.Thread) -> Managed | None:
    control = active.controller
    if control is None:
        return None
    return next((other for other in control.threads if other.thread is thread), None)


_born = itertools.count()


def stable_hash(self: threading.Thread) -> int:
    """By birth, not by address: a pool joins its threads in the order of a set."""
    born: int = vars(self).setdefault("_harness_born", next(_born))
    return born


def join(self: threading.Thread, timeout: float | None = None) -> None:
    me, other = active.managed(), _record(self)
    if me is not None and other is not None and other is not me:
        while other.status is not Status.ENDED:
            if not me.controller.block(me, other, "Thread.join", "Thread.join", timeout):
                return
        while _is_alive(self):  # a moment more, in C; to sleep on its lock would look like a thread that is blocked there
            raw.sleep(0.0002)
    _join(self, timeout)


def is_alive(self: threading.Thread) -> bool:
    other = _record(self)
    if other is not None and active.managed() is not None:
        return other.status is not Status.ENDED
    return _is_alive(self)
