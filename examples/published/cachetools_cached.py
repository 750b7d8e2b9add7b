"""``@cached`` with a lock, of cachetools: two threads that miss at the same time must get one object. Repaired in 4.2.0."""

import threading

from cachetools import LRUCache, cached


class Connection:
    def __init__(self, host: str) -> None:
        self.host = host


@cached(LRUCache(8), lock=threading.RLock())
def connect(host: str) -> Connection:
    return Connection(host)


def keep() -> None:
    connections.append(connect("localhost"))


connections: list[Connection] = []

if __name__ == "__main__":
    threads = [threading.Thread(target=keep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, other = connections
    assert one is other, "two connections to one host"
