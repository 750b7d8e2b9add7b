"""Distributions over the next token, and the exact acceptance rule of speculative sampling."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Sampling:
    """Temperature (0 is greedy), nucleus and top-k; raises ValueError out of range."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0  # 0: no limit

    def __post_init__(self) -> None:
        if self.temperature < 0 or not 0 < self.top_p <= 1 or self.top_k < 0:
            raise ValueError("temperature and top_k must not be negative and top_p must lie in (0, 1]")

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def probabilities(self, logits: Tensor) -> Tensor:
        """Warped distribution `[..., V]`, at least float32."""
        scores = logits.to(torch.promote_types(logits.dtype, torch.float32)) / self.temperature
        if 0 < self.top_k < scores.shape[-1]:
            least = scores.topk(self.top_k, dim=-1).values[..., -1:]
            scores = scores.masked_fill(scores < least, float("-inf"))
        p = scores.softmax(-1)
        if self.top_p < 1:
            ordered, index = p.sort(dim=-1, descending=True)
            ordered = ordered * (ordered.cumsum(-1) - ordered < self.top_p)
            p = torch.zeros_like(p).scatter(-1, index, ordered)
            p = p / p.sum(-1, keepdim=True)
        return p


def draw(p: Tensor, generator: torch.Generator | None) -> Tensor:
    """One token of each distribution `[..., V]`."""
    return torch.multinomial(p.flatten(0, -2), 1, generator=generator).view(p.shape[:-1])


def accept(drafts: Tensor, q: Tensor, p: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """Rejection sampling (arXiv 2211.17192): accepted counts `[R]` and the token after them `[R]`.

    `drafts [R, K]` drawn from `q [R, K, V]`, `p [R, K+1, V]` the target's. Draft x is kept with probability
    min(1, p(x)/q(x)); the first one refused is replaced by a draw from (p-q)+ scaled to one. The
    outcome is distributed as the target's own sampling whatever q is.
    """
    px = p[:, :-1].gather(-1, drafts[..., None]).squeeze(-1)
    qx = q.gather(-1, drafts[..., None]).squeeze(-1)
    u = torch.rand(px.shape, dtype=px.dtype, device=px.device, generator=generator)
    count = (u * qx < px).int().cumprod(-1).sum(-1)  # [R]
    row = torch.arange(p.shape[0], device=p.device)
    q_padded = torch.cat((q, torch.zeros_like(p[:, :1])), dim=1)  # past the last draft the residual is p
    residual = (p[row, count] - q_padded[row, count]).clamp(min=0)
    total = residual.sum(-1, keepdim=True)
    # Rounding can leave nothing of p - q; then p and q agree and p itself is right.
    residual = torch.where(total > 0, residual / total.clamp(min=torch.finfo(p.dtype).tiny), p[row, count])
    return count, draw(residual, generator)


def accept_greedy(drafts: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    """Longest prefix that equals the target's own choices, `[R]`, and its choice after it, `[R]`."""
    choice = logits.argmax(-1)  # [R, K+1]
    count = (drafts == choice[:, :-1]).int().cumprod(-1).sum(-1)
    return count, choice.gather(1, count[:, None]).squeeze(1)
