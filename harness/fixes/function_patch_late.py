"""``function_patch``, put in force after ``torch.compile(fn)`` was called: the wrapper has the old guard already."""

from .function_patch import function_patch as function_patch_late

LATE = True

__all__ = ["LATE", "function_patch_late"]
