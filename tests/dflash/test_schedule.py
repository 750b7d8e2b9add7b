from __future__ import annotations

import pytest
import torch
from torch import nn

from dflash.train.ema import Ema
from dflash.train.schedule import factor


def test_shapes_of_schedules() -> None:
    cosine = [factor("cosine", s, 100, 0.1) for s in range(100)]
    assert cosine[:10] == [pytest.approx((s + 1) / 10) for s in range(10)]
    assert cosine[10] == 1.0
    assert cosine[55] == pytest.approx(0.5)
    assert cosine[10:] == sorted(cosine[10:], reverse=True)
    assert 0 < cosine[99] < 0.01
    wsd = [factor("wsd", s, 100, 0.1, 0.2) for s in range(100)]
    assert wsd[10:80] == [1.0] * 70
    assert wsd[90] == pytest.approx(0.5)
    assert factor("constant", 99, 100, 0.0) == 1.0
    with pytest.raises(ValueError, match="'step' is unknown"):
        factor("step", 50, 100, 0.0)


def test_average_follows_its_definition_and_swaps_back() -> None:
    model = nn.Linear(2, 1, bias=False)
    ema = Ema(model, 0.5)
    expected = model.weight.detach().clone()
    for step in range(20):
        with torch.no_grad():
            model.weight += 1.0
        ema.update(model, step)
        decay = min(0.5, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * model.weight.detach()
    own = model.weight.detach().clone()
    with ema.swapped_in(model):
        torch.testing.assert_close(model.weight.detach(), expected)
    assert torch.equal(model.weight, own)
