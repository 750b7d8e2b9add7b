"""A stand-alone script from a schedule: torch and the standard library only, the same order, the same failure."""

from .make import make

__all__ = ["make"]
