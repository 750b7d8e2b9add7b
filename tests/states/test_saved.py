"""State that code saves and puts back, and setters that give back what was there."""

from __future__ import annotations

from support.scanned import Scan


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
