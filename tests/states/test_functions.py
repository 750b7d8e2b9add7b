"""Which functions of which modules are looked through."""

from __future__ import annotations

import sys

from support.scanned import Scan

from harness.states import scan


def test_decorated_and_nested_functions(scanned: Scan) -> None:
    s = scanned("""
        import contextlib, functools
        FLAG = 0
        def decorator(function):
            @functools.wraps(function)
            def wrapper(*args):
                global FLAG
                FLAG = 1
                return function(*args)
            return wrapper
        @decorator
        @functools.lru_cache
        def decorated():
            global FLAG
            FLAG = 2
        @contextlib.contextmanager
        def manager():
            global FLAG
            FLAG = 3
            yield
        def outer():
            def inner():
                return lambda: FLAG
            return inner
        class Thing:
            class Inner:
                @property
                def value(self):
                    return FLAG
        def factory():
            class Local:
                def method(self):
                    global FLAG
                    FLAG = 4
            return Local
    """)
    assert {name for name, _ in s.sites(write=True)} == {
        "a.decorator.<locals>.wrapper",
        "a.decorated",
        "a.manager",
        "a.factory.<locals>.Local.method",
    }
    assert {name for name, _ in s.sites(write=False)} == {
        "a.outer.<locals>.inner.<locals>.<lambda>",
        "a.Thing.Inner.value",
    }


def test_an_own_attribute_that_is_called_like_a_state(scanned: Scan) -> None:
    s = scanned("""
        class Thing:
            FLAG = 0
        def write():
            Thing.FLAG = 1
        def unrelated(thing, FLAG):
            return thing.FLAG, FLAG
    """)
    assert s.sites(write=False) == set()


def test_modules_outside_are_not_searched(scanned: Scan) -> None:
    s = scanned("""
        import string
        def write():
            string.digits_of_mine = 1
    """)
    assert s.states == []


def test_a_fine_module_has_all_its_functions(scanned: Scan) -> None:
    s = scanned("def one():\n    pass\nclass Thing:\n    def two(self):\n        pass\n")
    table = scan([], [sys.modules[s.names[0]]])
    assert {code.qualname for code in table.codes.values() if code.fine} == {"one", "Thing.two"}


def test_a_package_name_takes_what_lies_below(scanned: Scan) -> None:
    assert scan(["email"]).modules >= scan(["email.mime"]).modules
    assert scan(["emai"]).modules == 0
    assert scan(["no.such.module"]).states == []
