"""The one kind of error that is the user's to mend."""

from __future__ import annotations


class UserError(Exception):
    """What is wrong, where, and what to do, in one line; the command line prints it and exits with 2."""
