"""Schedules: which decisions made a run what it was, as data."""

from .file import read_file, write_file, write_text
from .schedule import Directive, Schedule
from .token import from_token, looks_like_token, to_token

__all__ = ["Directive", "Schedule", "from_token", "looks_like_token", "read_file", "to_token", "write_file", "write_text"]
