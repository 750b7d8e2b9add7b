"""A mix of terms under one weighting, and the denominator that is known before the forward pass."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dflash.loss.terms import cross_entropy, kl_to_target
from dflash.loss.weights import decay, default_gamma, dpace


@dataclass(frozen=True)
class Objective:
    """`ce * CE + kl * KL` per slot, weighted by `decay`, `dpace` or `uniform`.

    Raises ValueError where a value has no meaning.
    """

    ce: float = 1.0
    kl: float = 0.0
    kl_temperature: float = 1.0
    weighting: str = "decay"
    gamma: float | None = None  # of `decay`; None: the paper's for the block size
    alpha: float = 0.5  # of `dpace`

    def __post_init__(self) -> None:
        if self.ce < 0 or self.kl < 0 or self.ce + self.kl <= 0:
            raise ValueError(
                f"loss shares ce={self.ce} and kl={self.kl} must be non-negative and not both zero"
            )
        if self.kl_temperature <= 0:
            raise ValueError(f"kl_temperature must be positive, not {self.kl_temperature}")
        if self.weighting not in ("decay", "dpace", "uniform"):
            raise ValueError(f"weighting {self.weighting!r} is unknown (use decay, dpace or uniform)")
        if self.gamma is not None and self.gamma <= 0:
            raise ValueError(f"gamma must be positive, not {self.gamma}")
        if not 0 < self.alpha <= 1:
            raise ValueError(f"alpha must be in (0, 1], not {self.alpha}")
        if self.weighting == "dpace" and self.ce == 0:
            raise ValueError("dpace weights come from the labels' probability: give ce a share above 0")

    @property
    def needs_target_logits(self) -> bool:
        """Whether the target's final states must come with a batch."""
        return self.kl > 0

    def fixed_weights(self, present: Tensor) -> Tensor:
        """`[N, K]` weights that don't depend on the drafter (1 under `dpace`, whose mean they replace)."""
        if self.weighting != "decay":
            return present.float()
        gamma = default_gamma(present.shape[-1] + 1) if self.gamma is None else self.gamma
        return present * decay(present.shape[-1], gamma, present.device)

    def denominator(self, present: Tensor) -> float:
        """Sum of the fixed weights of `present [..., K]`.

        It is known before any forward pass, so micro-batches and ranks can share one exact denominator.
        """
        return float(self.fixed_weights(present).double().sum())

    def __call__(
        self, logits: Tensor, labels: Tensor, present: Tensor, target_logits: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Weighted sum (scalar) over `logits [N, K, V]`, and the unweighted slot losses `[N, K]`."""
        logits = logits if logits.dtype == torch.float64 else logits.float()
        ce = cross_entropy(logits, labels) if self.ce or self.weighting == "dpace" else None
        slot = torch.zeros(labels.shape, dtype=logits.dtype, device=logits.device)
        if ce is not None:
            slot = slot + self.ce * ce
        if self.kl:
            if target_logits is None:
                raise ValueError("the objective has a kl share but the batch carries no target logits")
            slot = slot + self.kl * kl_to_target(logits, target_logits.to(logits.dtype), self.kl_temperature)
        if self.weighting == "dpace" and ce is not None:
            weights = dpace(torch.exp(-ce), present, self.alpha)
        else:
            weights = self.fixed_weights(present)
        # where, not a product: an absent slot may hold inf or nan.
        return torch.where(present, slot * weights, 0.0).sum(), slot
