"""Somebody's program or tests under the controller, without a scenario: ``harness run -- python prog.py``."""

from .command import PREFIX, Command, from_arguments, from_reference

__all__ = ["PREFIX", "Command", "from_arguments", "from_reference"]
