"""``@cached`` with a lock, of cachetools: two threads that miss at the same time must get one object. Repaired in 4.2.0."""

import threading
from concurrent.futures import ThreadPoolExecutor

from cachetools import LRUCache, cached


class Connection:
    def __init__(self, host: str) -> None:
        self.host = host


@cached(LRUCache(8), lock=threading.RLock())
def connect(host: str) -> Connection:
    return Connection(host)


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(connect, "localhost"), pool.submit(connect, "localhost")
    assert one.result() is other.result(), "two connections to one host"
