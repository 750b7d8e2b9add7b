from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.inline import Inline, cooperative


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    with cooperative(monkeypatch) as made:
        yield made
