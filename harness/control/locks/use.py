"""Who uses which lock: only a lock that two threads use makes its points worth a hand-over."""

from __future__ import annotations

from typing import Any

from ..forks import child as forked_child
from ..managed import Managed
from ..record import Record


class LockUse(Record):
    def used(self, lock: Any, me: Managed, key: str) -> None:
        """Remember who uses which lock: only locks used by two threads make lock points worth a hand-over."""
        if id(lock) in self.plumbing:
            return
        if self.forked is not None:
            forked_child.uses(self, lock, me)
            return
        users, keys, _ = self.lock_use.setdefault(id(lock), (set(), set(), lock))
        users.add(me.acts_for)
        keys.add(key)

    def contended(self) -> set[str]:
        for lock, root in self.account.used:
            if lock in self.lock_use:
                self.lock_use[lock][0].add(root)
        return {key for users, keys, _ in self.lock_use.values() if len(users) > 1 for key in keys}
