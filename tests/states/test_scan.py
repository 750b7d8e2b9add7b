"""What functions write is a state, through whichever name; what the module body writes is not."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from harness.states import Table, scan

Scan = Callable[..., "Scanned"]
_names = itertools.count()


class Scanned:
    def __init__(self, names: list[str], table: Table) -> None:
        self.names, self.table = names, table

    @property
    def states(self) -> list[str]:
        return [
            state.replace(self.names[0], "a", 1).replace(self.names[-1], "b", 1)
            for state in self.table.states
        ]

    def sites(self, write: bool) -> set[tuple[str, str]]:
        """(function, state) pairs, with the module names of the source."""
        found = set()
        for code in self.table.codes.values():
            for accesses in code.sites.values():
                found |= {(code.name, access.state) for access in accesses if access.write is write}
        return {tuple(self._short(text) for text in pair) for pair in found}  # type: ignore[misc]

    def _short(self, text: str) -> str:
        for letter, name in zip("ab", self.names, strict=False):
            text = text.replace(name + ".", letter + ".")
        return text


@pytest.fixture
def scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scan]:
    monkeypatch.syspath_prepend(tmp_path)
    made: list[str] = []

    def make(*sources: str) -> Scanned:
        """Modules ``a``, ``b``: each may import the earlier ones by that name."""
        names = [f"scanned_{next(_names)}_{letter}" for letter, _ in zip("ab", sources, strict=False)]
        for name, source in zip(names, sources, strict=True):
            text = dedent(source)
            for letter, real in zip("ab", names, strict=False):
                text = text.replace(f"MODULE_{letter}", real)
            (tmp_path / f"{name}.py").write_text(text)
            importlib.import_module(name)
            made.append(name)
        return Scanned(names, scan(names))

    yield make
    for name in made:
        del sys.modules[name]


def test_global_statement(scanned: Scan) -> None:
    s = scanned("""
        FLAG = CONSTANT = 0
        def write():
            global FLAG
            FLAG = 1
        def read():
            return FLAG, CONSTANT
        def local():
            FLAG = 2
            return FLAG
    """)
    assert s.states == ["a.FLAG"]
    assert s.sites(write=True) == {("a.write", "a.FLAG")}
    assert s.sites(write=False) == {("a.read", "a.FLAG")}


def test_what_the_module_body_writes_does_not_count(scanned: Scan) -> None:
    s = scanned("""
        FLAG = 0
        FLAG = 1
        class Thing:
            attribute = 1
            global OTHER
            OTHER = 2
        for i in range(3):
            FLAG += i
    """)
    assert s.states == []
    assert s.table.codes == {}


def test_delete_is_a_write(scanned: Scan) -> None:
    s = scanned("""
        FLAG = 0
        def drop():
            global FLAG
            del FLAG
    """)
    assert s.sites(write=True) == {("a.drop", "a.FLAG")}


@pytest.mark.parametrize(
    ("above", "body"),
    [
        ("import MODULE_a", "MODULE_a.FLAG = 1"),
        ("import MODULE_a as other", "other.FLAG = 1"),
        ("", "import MODULE_a; MODULE_a.FLAG = 1"),
        ("", "import MODULE_a as other; other.FLAG = 1"),
        ("import MODULE_a as other", "alias = other; alias.FLAG = 1"),
        ("import MODULE_a as other", "alias = other; again = alias; again.FLAG = 1"),
        ("import MODULE_a as other", "other.FLAG += 1"),
        ("import MODULE_a as other", "del other.FLAG"),
        ("from MODULE_a import Thing", "Thing.FLAG = 1"),
        ("from MODULE_a import Thing as T", "T.FLAG = 1"),
        ("", "from MODULE_a import Thing; Thing.FLAG = 1"),
        ("import MODULE_a", "MODULE_a.Thing.FLAG = 1"),
        ("import MODULE_a", "MODULE_a.Thing.Inner.FLAG = 1"),
    ],
)
def test_writes_from_another_module(scanned: Scan, above: str, body: str) -> None:
    s = scanned(
        """
        FLAG = 0
        class Thing:
            FLAG = 0
            class Inner:
                FLAG = 0
        def read():
            return FLAG
        """,
        f"{above}\ndef write():\n    {body}\n",
    )
    owner = "a.Thing.Inner" if "Inner" in body else "a.Thing" if "Thing" in body or "T." in body else "a"
    assert s.states == [f"{owner}.FLAG"]
    assert s.sites(write=True) == {("b.write", f"{owner}.FLAG")}
    assert (("a.read", "a.FLAG") in s.sites(write=False)) is (owner == "a")


def test_readers_in_another_module(scanned: Scan) -> None:
    s = scanned(
        """
        FLAG = 0
        def write():
            global FLAG
            FLAG = 1
        """,
        """
        import MODULE_a as other
        from MODULE_a import FLAG
        def through_module():
            return other.FLAG
        def alias():
            m = other
            return m.FLAG
        def own_copy():
            return FLAG
        """,
    )
    assert s.sites(write=False) == {("b.through_module", "a.FLAG"), ("b.alias", "a.FLAG")}


def test_class_attributes(scanned: Scan) -> None:
    s = scanned("""
        class Base:
            count = 0
            other = 0
            @classmethod
            def up(cls):
                cls.count += 1
            def method(self):
                self.other = 1
            @staticmethod
            def static():
                Base.seen = True
        def read():
            return Base.count, Base.other
    """)
    assert s.states == ["a.Base.count", "a.Base.seen"]
    assert ("a.Base.up", "a.Base.count") in s.sites(write=True)
    assert s.sites(write=False) >= {("a.Base.up", "a.Base.count"), ("a.read", "a.Base.count")}


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


def test_save_and_restore(scanned: Scan) -> None:
    s = scanned("""
        FLAG = OTHER = 0
        class Thing:
            mode = 0
        def restores():
            global FLAG
            saved = FLAG
            FLAG = 1
            try:
                pass
            finally:
                FLAG = saved
        def restores_attribute():
            before = Thing.mode
            Thing.mode = 2
            Thing.mode = before
        def only_writes():
            global OTHER
            old = OTHER
            OTHER = 1
            return old
    """)
    assert [name.partition(".")[2] for name in s.table.save_restore] == ["FLAG", "Thing.mode"]


def test_a_setter_that_returns_what_was_there_is_for_callers_that_put_it_back(scanned: Scan) -> None:
    s = scanned("""
        MODE = COUNT = 0
        def exchange(new):
            global MODE
            before = MODE
            MODE = new
            return before
        def count(more):
            global COUNT
            before = COUNT
            COUNT = before + more
            return before
    """)
    assert [name.partition(".")[2] for name in s.table.save_restore] == ["MODE"]


def test_a_fine_module_has_all_its_functions(scanned: Scan) -> None:
    s = scanned("def one():\n    pass\nclass Thing:\n    def two(self):\n        pass\n")
    table = scan([], [sys.modules[s.names[0]]])
    assert {code.qualname for code in table.codes.values() if code.fine} == {"one", "Thing.two"}


def test_a_package_name_takes_what_lies_below(scanned: Scan) -> None:
    assert scan(["email"]).modules >= scan(["email.mime"]).modules
    assert scan(["emai"]).modules == 0
    assert scan(["no.such.module"]).states == []


def test_scanning_is_deterministic(scanned: Scan) -> None:
    first, second = scan(["logging", "json"]), scan(["json", "logging"])
    assert first.states == second.states
    assert list(first.codes) == list(second.codes)
    assert "logging._srcfile" not in first.states
    assert any(state.startswith("logging.") for state in first.states)


def test_a_setter_of_c_that_gives_back_what_was_there_is_a_state(scanned: Scan) -> None:
    """``set_wakeup_fd`` has no getter; ``setitimer`` has one, and is called after that."""
    s = scanned("""
        import signal
        def swaps():
            before = signal.set_wakeup_fd(-1)
            signal.set_wakeup_fd(before)
            kept = signal.setitimer(signal.ITIMER_REAL, 0)
        def drops():
            signal.set_wakeup_fd(-1)
    """)
    state = "_signal.set_wakeup_fd"
    assert s.table.by_kind["pairs"] == {state, "_signal.getitimer()"}
    written = {code.qualname: [a for found in code.sites.values() for a in found] for code in s.table.codes.values()}
    assert [access.point for access in written["swaps"]].count(f"write:{state}") == 2
    assert [access.point for access in written["drops"]] == [f"write:{state}"]


def test_also_where_a_function_imports_it_and_hands_on_what_it_gives(scanned: Scan) -> None:
    """As torch 2.5 does with ``set_eval_frame``. ``setitem`` is of an object."""
    s = scanned("""
        def swap():
            from signal import set_wakeup_fd
            return set_wakeup_fd(-1)
        def put(table):
            from operator import setitem
            return setitem(table, 0, 1)
    """)
    assert s.table.by_kind["pairs"] == {"_signal.set_wakeup_fd"}
