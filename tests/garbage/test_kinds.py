"""Planted garbage calls back in a collection: not before, and once."""

from __future__ import annotations

import gc

import pytest

from harness.garbage import KINDS, make, plant

pytestmark = pytest.mark.usefixtures("no_automatic_collection")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param in ("tensor", "code"):
        pytest.importorskip("torch")
    return str(request.param)


def test_only_a_collection_calls_back(kind: str) -> None:
    calls: list[str] = []
    held = make(kind, lambda: calls.append(kind))
    gc.collect()
    assert calls == [], "called while somebody holds it"
    del held
    assert calls == [], "called without a collection"
    gc.collect()
    gc.collect()
    assert calls == [kind]


def test_planted_is_garbage_at_once(kind: str) -> None:
    calls: list[str] = []
    plant(kind, lambda: calls.append(kind))
    gc.collect()
    assert calls == [kind]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="finalizer, weakref"):
        plant("finaliser", lambda: None)
