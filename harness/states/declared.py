"""States that bytecode does not show: set by ``setattr`` or in place, read by the interpreter itself.

One row a state: its name (which is also where its value is found), the functions that have written it when they
return, the functions whose start reads it. A function is ``module:qualname``.
"""

from __future__ import annotations

from typing import NamedTuple


class Declared(NamedTuple):
    state: str
    writers: tuple[str, ...]
    readers: tuple[str, ...]
    save_restore: bool


DECLARED: tuple[Declared, ...] = (
    # Tracer.trace patches the class for everyone (pytorch #112775): each patch has its own record, set by setattr.
    Declared(
        "torch.nn.modules.module.Module.__call__",
        writers=(
            "torch.fx._symbolic_trace:_PatchedFnSetAttr.patch",
            "torch.fx._symbolic_trace:_PatchedFnSetAttr.revert",
        ),
        readers=("torch.nn.modules.module:Module._wrapped_call_impl",),
        save_restore=True,
    ),
    Declared(
        "torch.nn.modules.module.Module.__getattr__",
        writers=(
            "torch.fx._symbolic_trace:_PatchedFnSetAttr.patch",
            "torch.fx._symbolic_trace:_PatchedFnSetAttr.revert",
        ),
        readers=("torch.nn.modules.module:Module.__getattr__",),
        save_restore=True,
    ),
)
