"""A run with each body in a process of its own: the same schedule, the baton over pipes.

The processes are forked after set-up, so each has its copy of everything. Whoever gives the baton on to a thread of another
process sends with it all that the controllers must agree on: the log, who may run, what the decider knows.
"""

from .run import execute_in_processes

__all__ = ["execute_in_processes"]
