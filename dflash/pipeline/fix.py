"""What keeps torch's process-wide state from being shared by the pipeline's threads."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from dflash.errors import UserError

from .judged import held


def chosen(name: str) -> str:
    """The fix's name that `auto` stands for with this torch; others as they are. Raises UserError where none holds."""
    import torch

    return held(torch.__version__).fix if name == "auto" else name


def told(name: str) -> str:
    """As :func:`chosen`, with what the choice rests on."""
    import torch

    return str(held(torch.__version__)) if name == "auto" else name


def apply(name: str) -> AbstractContextManager[object]:
    """In force inside; must be entered before anything is compiled. Raises UserError for a name that is none."""
    from harness.errors import UserError as Unknown
    from harness.fixes import find_fix

    name = chosen(name)
    if name == "none":
        return nullcontext()
    try:
        found = find_fix(name)
    except Unknown as error:
        raise UserError(f"pipeline.fix: {error}") from None
    if found.processes or found.apply is None:
        raise UserError(f'pipeline.fix {name!r} is not one for threads: set pipeline.mode = "processes"')
    return found.apply()
