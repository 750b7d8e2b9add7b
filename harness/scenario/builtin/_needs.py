"""What a scenario uses and a release may not have."""

from __future__ import annotations

from harness.errors import UserError


def needs(name: str) -> None:
    """``name``: a module and an attribute. Raises UserError, which says so, where this torch lacks it."""
    import importlib

    import torch

    module, _, attribute = name.rpartition(".")
    if not hasattr(importlib.import_module(module), attribute):
        raise UserError(f"torch {torch.__version__} has no {name}")
