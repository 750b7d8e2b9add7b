"""The module that has the process-wide flag, on releases that have one."""

from __future__ import annotations

from typing import Any


def flag_module() -> Any:
    """Raises RuntimeError on releases where the flag is each thread's own already (2.14 and later)."""
    import torch
    import torch.fx

    module: Any = torch.fx._symbolic_trace
    if not hasattr(module, "_is_fx_tracing_flag"):
        raise RuntimeError(f"torch {torch.__version__} has no torch.fx._symbolic_trace._is_fx_tracing_flag")
    return module
