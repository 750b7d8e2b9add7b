"""Twenty files of 200 tests with a dependence of each kind, planted at random places: found in all, in few runs."""

from __future__ import annotations

from math import ceil, log2
from pathlib import Path
from random import Random

import pytest
from support.pollution import FEW, PLANTED, ask, planted


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLANTED)
def test_20_of_20(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run, random, counts = ask(tmp_path, capsys, monkeypatch), Random(kind), []
    for n in range(20):
        made = planted(kind, 200, random)
        (tmp_path / "project" / "test_it.py").write_text(made.text)
        options = (*FEW, "--test", made.victim) if kind == "garbage" else FEW
        status, found, said = run("test_it.py", store=str(n), options=options)
        assert (status, found["test"], tuple(found["before"])) == (1, made.victim, made.culprits), said
        assert found["kind"] == ("order and GC" if kind == "garbage" else "order")
        assert bool(found["ordered"]) == (kind == "ordered pair")
        counts.append(found["runs"])
    print(f"{kind}: runs in all {min(counts)} to {max(counts)}")
    if kind == "one":
        assert max(counts) <= 2 * log2(200) + 1
    assert max(counts) <= 2 * ceil(log2(200)) + 12
