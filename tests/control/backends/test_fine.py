"""Code in which every place is a point."""

from __future__ import annotations

from support.backend import Make


def test_fine_code_has_a_point_behind_calls_into_c(world: Make) -> None:
    w = world("""
        def callee():
            return 1
        def body():
            x = callee()
            y = abs(x)
            return y
    """, fine=True)  # fmt: skip
    assert w.points(w.run("body")) == ["call:M.body", "call:M.callee", "line:M.body+2"]


def test_backward_jumps(world: Make) -> None:
    w = world("""
        def body():
            for i in (1, 2, 3):
                j = i
    """, fine=True)  # fmt: skip
    points = w.points(w.run("body"))
    assert points[0] == "call:M.body"
    assert len(points) == 4
    assert all(point.startswith("line:M.body+") for point in points[1:])


def test_a_generator_starts_at_every_resumption(world: Make) -> None:
    w = world("""
        flag = 0
        def gen():
            global flag
            flag = 1
            yield 1
            flag = 2
            yield 2
        def body():
            return [x for x in gen()]
    """, fine=True)  # fmt: skip
    points = [p for p in w.points(w.run("body")) if "gen" in p or "flag" in p]
    assert points == ["call:M.gen", "write:M.flag", "call:M.gen", "write:M.flag", "call:M.gen"]
