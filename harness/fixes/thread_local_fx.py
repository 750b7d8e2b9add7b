"""All that ``torch.fx`` keeps for the process while it traces is each thread's own: flag, patcher, hooks, metadata.

Our own candidate, for torch 2.5 and later. May be put in force at any time, also after ``torch.compile`` was called.
Not covered: Dynamo compiling, in one thread, a function that ``torch.fx.wrap`` has patched for a trace in another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

#: Module -> the globals that one thread's trace must not see of another's.
OWN = {
    "torch.fx._symbolic_trace": ("_is_fx_tracing_flag", "CURRENT_PATCHER"),
    "torch.fx.traceback": (
        "current_meta",
        "current_replay_node",
        "should_preserve_node_meta",
        "_should_preserve_node_meta",
    ),
    "torch.fx.experimental.proxy_tensor": ("_CURRENT_MAKE_FX_TRACER", "CURRENT_DECOMPOSITION_TABLE"),
    "torch.utils._python_dispatch": (  # the modes that they tell of are each thread's own
        "_is_in_torch_dispatch_mode",
        "_is_in_non_infra_torch_dispatch_mode",
        "_is_in_any_mode_without_ignore_compile_internals",
    ),
}


@contextmanager
def thread_local_fx() -> Iterator[None]:
    """Flag (pytorch #126024), patcher and hooks (#112775, #189884, #187589), metadata (#184917) per thread."""
    import importlib

    from ._own_globals import own_globals
    from ._own_patches import own_patches

    with ExitStack() as stack:
        for module, names in OWN.items():
            stack.enter_context(own_globals(importlib.import_module(module), names))
        stack.enter_context(own_patches())
        yield
