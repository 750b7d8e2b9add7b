"""The demonstration: a byte-level target and its drafter from nothing, without network."""

from dflash.demo.run import DemoSettings, run

__all__ = ["DemoSettings", "run"]
