"""What functions write is a state, through whichever name; what the module body writes is not."""

from __future__ import annotations

import pytest
from support.scanned import Scan

from harness.states import scan


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


def test_scanning_is_deterministic(scanned: Scan) -> None:
    first, second = scan(["logging", "json"]), scan(["json", "logging"])
    assert first.states == second.states
    assert list(first.codes) == list(second.codes)
    assert "logging._srcfile" not in first.states
    assert any(state.startswith("logging.") for state in first.states)
