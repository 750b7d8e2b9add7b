"""What keeps torch's process-wide state from being shared by the pipeline's threads."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from dflash.errors import UserError

#: It leaves nothing of a trace for other threads to read, on every release from 2.5 on; the others of the story do.
DEFAULT = "thread_local_fx"


def chosen(name: str) -> str:
    """The fix's name that `auto` stands for; others as they are."""
    return DEFAULT if name == "auto" else name


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
