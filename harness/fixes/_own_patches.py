"""Makes what ``torch.fx`` patches while it traces visible to the tracing thread alone.

``Module.__call__`` and ``Module.__getattr__`` keep their identity, by which Dynamo knows them: their code is exchanged
for code that looks for a patch of this thread first. Other methods, and functions in a module's dictionary, get a
dispatcher for as long as any thread has a patch there.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType
from typing import Any

from ._replaced import exchanged, replaced
from ._traces import within

_OWN = "__each_thread_s_own_patches__"
_MISSING: Any = object()


class _Stacks(threading.local):
    """For each patched name the patches of this thread, the last one in force."""

    call: Any = None  # the one in force for Module.__call__
    getattr: Any = None
    together = False  # it has the lock

    def __init__(self) -> None:
        self.of: dict[tuple[int, str], list[Any]] = {}


@contextmanager
def own_patches() -> Iterator[None]:
    """In force for traces that begin inside."""
    import torch.fx._symbolic_trace as fx
    import torch.nn.modules.module as nn

    stacks = _Stacks()
    hooks = {(id(nn.Module), "__call__"): "call", (id(nn.Module), "__getattr__"): "getattr"}
    shared = _Shared(stacks)

    def patch(self: Any) -> None:
        key = (id(self.frame_dict), self.fn_name)
        new = self.new_fn
        if key not in hooks:
            shared.install(key, self)
        stacks.of.setdefault(key, []).append(new)
        if key in hooks:
            setattr(stacks, hooks[key], new)

    def revert(self: Any) -> None:
        key = (id(self.frame_dict), self.fn_name)
        mine = stacks.of.get(key, [])
        if self.new_fn not in mine:
            return  # reverted already
        mine.remove(self.new_fn)
        if key in hooks:
            setattr(stacks, hooks[key], mine[-1] if mine else None)
        else:
            shared.remove(key)

    with ExitStack() as stack:
        call: Any = nn.Module.__call__
        getattribute: Any = nn.Module.__getattr__
        originals = _copy(call), _copy(getattribute)
        vars(nn)[_OWN] = (stacks, *originals)
        stack.callback(vars(nn).pop, _OWN)
        stack.enter_context(exchanged(call, _call.__code__))
        stack.enter_context(exchanged(getattribute, _getattr.__code__))
        for name, value in (("_orig_module_call", originals[0]), ("_orig_module_getattr", originals[1])):
            stack.enter_context(replaced(fx, name, value))
        for kind in (fx._PatchedFnSetAttr, fx._PatchedFnSetItem, fx._PatchedFnDel):
            stack.enter_context(replaced(kind, "patch", patch))
            stack.enter_context(replaced(kind, "revert", revert))
        # A trace patches dozens of functions: the lock is taken once for all of them.
        whole = [(fx._Patcher, name) for name in ("revert_all_patches", "reapply_all_patches", "__exit__")]
        for owner, name in ((fx, "_patch_wrapped_functions"), (fx, "_autowrap_check"), *whole):
            stack.enter_context(replaced(owner, name, within(shared.together, vars(owner)[name])))
        yield


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:  # runs with the globals of torch.nn.modules.module
    own, call, _ = __each_thread_s_own_patches__  # type: ignore[name-defined]  # noqa: F821
    return (own.call or call)(self, *args, **kwargs)


def _getattr(self: Any, name: str) -> Any:
    own, _, getattribute = __each_thread_s_own_patches__  # type: ignore[name-defined]  # noqa: F821
    return (own.getattr or getattribute)(self, name)


class _Shared:
    """Dispatchers where several threads may have patches at once; gone with the last of them."""

    def __init__(self, stacks: _Stacks) -> None:
        self.stacks = stacks
        self.lock = threading.Lock()
        self.users: dict[tuple[int, str], int] = {}
        self.places: dict[tuple[int, str], tuple[Any, Any]] = {}  # owner, what was there

    @contextmanager
    def together(self) -> Iterator[None]:
        """No other thread installs or removes anything meanwhile."""
        if self.stacks.together:
            yield
            return
        with self.lock:
            self.stacks.together = True
            try:
                yield
            finally:
                self.stacks.together = False

    def install(self, key: tuple[int, str], patched: Any) -> None:
        with self.together():
            self.users[key] = self.users.get(key, 0) + 1
            if self.users[key] == 1:
                owner, name = patched.frame_dict, patched.fn_name
                self.places[key] = (owner, vars_of(owner).get(name, _MISSING))
                put(owner, name, self._dispatcher(key, patched.orig_fn))
            _call_the_original(patched.new_fn, self._original(key))

    def remove(self, key: tuple[int, str]) -> None:
        with self.together():
            self.users[key] -= 1
            if not self.users[key]:
                owner, there = self.places.pop(key)
                put(owner, key[1], there)

    def _original(self, key: tuple[int, str]) -> Any:
        return vars_of(self.places[key][0])[key[1]].__wrapped__

    def _dispatcher(self, key: tuple[int, str], original: Any) -> Callable[..., Any]:
        import builtins

        stacks = self.stacks
        original = original if original is not None else getattr(builtins, key[1])

        @functools.wraps(original)
        def dispatch(*args: Any, **kwargs: Any) -> Any:
            mine = stacks.of.get(key)
            return (mine[-1] if mine else original)(*args, **kwargs)

        return dispatch


def _call_the_original(new: Any, original: Any) -> None:
    """A wrapper made while another thread's dispatcher was there has taken that for what it wraps."""
    for cell in getattr(new, "__closure__", None) or ():
        held = cell.cell_contents
        if getattr(held, "__wrapped__", None) is original:
            cell.cell_contents = original


def vars_of(owner: Any) -> Any:
    return owner if isinstance(owner, dict) else vars(owner)


def put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, dict):
        if value is _MISSING:
            owner.pop(name, None)
        else:
            owner[name] = value
    elif value is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


def _copy(function: FunctionType) -> FunctionType:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    return functools.update_wrapper(made, function)  # type: ignore[return-value]
