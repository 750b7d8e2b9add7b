"""Tests as they are: ``harness run -- pytest examples/programs/test_cache.py`` finds the order in which one fails."""

from concurrent.futures import ThreadPoolExecutor

cache: dict[str, object] = {}


def make(name: str) -> object:
    return object()


def get(name: str) -> object:
    if name not in cache:
        cache[name] = make(name)
    return cache[name]


def test_one_object_for_a_name() -> None:
    cache.clear()
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(get, "a"), pool.submit(get, "a")
        assert one.result() is other.result()
