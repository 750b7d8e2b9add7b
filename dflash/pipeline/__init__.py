"""Training in one process on several devices: a coordinator, target workers and drafter workers, each a thread.

feeder ──plans──► coordinator ◄──gradients── drafter 0..N-1 ◄──features── target 0..T-1 ◄──jobs── feeder

Micro-batch j of a step goes to drafter j mod N. The coordinator adds gradients in the order of micro-batches,
whoever is ready first, so the sum is that of one device.
"""

from __future__ import annotations

from dflash.pipeline.settings import PipelineSettings
from dflash.pipeline.threads import Threads

__all__ = ["PipelineSettings", "Threads"]
