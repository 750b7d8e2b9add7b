"""What becomes of processes that a run forks.

In a forked child only the thread that forked goes on. It is alone there, so a lock that another thread had at the fork is
never given back: to wait for it is a deadlock, known at once. What children tell comes back through a file that they share
with the run (:mod:`.account`); the run waits for them where it uses ``os.waitpid`` (:mod:`.wait`) and at its end.
"""

from .account import Account, Child

__all__ = ["Account", "Child"]
