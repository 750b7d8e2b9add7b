"""Who waits for what."""

from .describe import WaitReport, describe

__all__ = ["WaitReport", "describe"]
