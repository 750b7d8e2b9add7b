"""The two ways in which a command can end without an answer."""


class UserError(Exception):
    """A mistake a user can mend. Shown as one line; exit status 2."""


class NeedsRestart(UserError):
    """A program whose runs cannot be forked where it starts its first thread: each has to begin at its beginning."""


class CannotTest(Exception):
    """The question cannot be decided here (a schedule that does not align, say). Exit status 125."""
