"""Campaigns: many searches, numbered, over hours and processes, whose results outlive whatever ends them."""

from .campaign import Campaign
from .merge import merge
from .plan import Cell, Plan, Shard
from .store import Content, Store

__all__ = ["Campaign", "Cell", "Content", "Plan", "Shard", "Store", "merge"]
