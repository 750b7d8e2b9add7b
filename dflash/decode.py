"""Speculative decoding: draft a block, verify it in one target pass, keep what the target agrees with."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dflash.attention.dense import sdpa
from dflash.model import Drafter, DrafterConfig, KeyValue
from dflash.sampling import Sampling, accept, accept_greedy, draw
from dflash.target import Target


@dataclass
class Generation:
    """One row's outcome.

    `kept` has the tokens gained by each verifying target pass, the target's own bonus included and the
    pass that reads the prompt left out. The last pass counts what was left of it after the length limit
    or a stop token.
    """

    prompt: list[int]
    tokens: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)  # drafts agreed with per pass, before any cut
    stopped: bool = False


class DraftContext:
    """Keys and values of the features read so far, one slot per position and row, per drafter layer."""

    def __init__(self, drafter: Drafter, rows: int, positions: int) -> None:
        self.drafter = drafter
        c, weight = drafter.config, drafter.fc.weight
        shape = (rows, c.num_key_value_heads, positions, c.head_dim)
        self.layers = [(weight.new_zeros(shape), weight.new_zeros(shape)) for _ in drafter.layers]
        self.rows = torch.arange(rows, device=weight.device)[:, None]

    def write(self, features: Tensor, positions: Tensor) -> None:
        """Features `[R, T, n*D]` at `positions [R, T]`; those of rejected tokens are overwritten later."""
        new = self.drafter.context(features.to(self.drafter.fc.weight.dtype), positions)
        for (k, v), (new_k, new_v) in zip(self.layers, new, strict=True):
            k[self.rows, :, positions] = new_k.transpose(1, 2)
            v[self.rows, :, positions] = new_v.transpose(1, 2)

    def upto(self, length: int) -> list[KeyValue]:
        return [(k[:, :, :length], v[:, :, :length]) for k, v in self.layers]


class DecodeAttention:
    """The drafter's rule for one block per row at `anchors [R]`, over context slots that are positions."""

    def __init__(self, config: DrafterConfig, anchors: Tensor) -> None:
        size, reach = config.block_size, int(anchors.max())
        slot = torch.arange(reach + size, device=anchors.device)
        query = anchors[:, None] + torch.arange(size, device=anchors.device)  # [R, B]
        key = torch.cat((slot[:reach].expand(anchors.shape[0], -1), query), 1)  # positions, [R, reach+B]
        seen = torch.cat((slot[:reach] < anchors[:, None], torch.ones_like(query, dtype=torch.bool)), 1)
        distance = query[:, :, None] - key[:, None, :]
        self.reach = reach
        self.masks: dict[str, Tensor | None] = {}
        for kind in set(config.layer_types):
            mask = seen[:, None, :].expand_as(distance)
            if (window := config.window(kind)) is not None:
                mask = mask & (distance.abs() < window)
            if config.is_causal(kind):
                mask = mask & (distance >= 0)
            self.masks[kind] = None if bool(mask.all()) else mask[:, None]

    def __call__(self, layer_type: str, q: Tensor, context: KeyValue, block: KeyValue) -> Tensor:
        k, v = (torch.cat(pair, dim=2) for pair in zip(context, block, strict=True))
        return sdpa(q, k, v, self.masks[layer_type])


@torch.no_grad()
def generate(
    target: Target, drafter: Drafter | None, prompts: Sequence[Sequence[int]], max_new_tokens: int,
    sampling: Sampling | None = None, stop_ids: Sequence[int] = (), generator: torch.Generator | None = None,
    zero_features: bool = False,
) -> list[Generation]:  # fmt: skip
    """Continue each prompt; without a drafter, one token a pass.

    Greedy output is the target's own greedy decoding token for token; with a temperature it is distributed
    as the target's sampling. `zero_features` blinds the drafter, to measure what the features give.
    Raises ValueError for an empty prompt or a limit below 1.
    """
    if max_new_tokens < 1 or not prompts or not all(prompts):
        raise ValueError("every prompt needs a token and max_new_tokens must be at least 1")
    sampling = sampling or Sampling()
    rows, device = [Generation(list(p)) for p in prompts], target.device
    layer_ids = drafter.config.target_layer_ids if drafter else ()
    size = drafter.config.block_size if drafter else 1

    longest = max(map(len, prompts))
    ids = torch.tensor([[*p, *[0] * (longest - len(p))] for p in prompts], device=device)
    lengths = torch.tensor([len(p) for p in prompts], device=device)
    real = torch.arange(longest, device=device) < lengths[:, None]
    cache = target.start(len(rows))
    output = target.advance(cache, ids, real, layer_ids)
    cache.keep(lengths)
    context = DraftContext(drafter, len(rows), longest + max_new_tokens + 2 * size) if drafter else None

    def remember(features: Tensor, start: Tensor) -> None:
        if context is not None:
            places = start[:, None] + torch.arange(features.shape[1], device=device)
            context.write(torch.zeros_like(features) if zero_features else features, places)

    remember(output.features, torch.zeros_like(lengths))
    last = output.final[torch.arange(len(rows)), lengths - 1]
    logits = target.head(last)  # [R, V]
    anchor = logits.argmax(-1) if sampling.greedy else draw(sampling.probabilities(logits), generator)
    active = [
        _emit(row, [int(t)], max_new_tokens, stop_ids) for row, t in zip(rows, anchor.tolist(), strict=True)
    ]

    while any(active):
        start = cache.lengths
        drafts, q = anchor[:, None][:, :0], None
        if drafter and context:
            drafts, q = _draft(target, drafter, context, anchor, start, sampling, generator)
        ids = torch.cat((anchor[:, None], drafts), dim=1)
        output = target.advance(cache, ids, torch.ones_like(ids, dtype=torch.bool), layer_ids)
        logits = target.head(output.final)  # [R, B, V]
        if sampling.greedy:
            count, bonus = accept_greedy(drafts, logits)
        else:
            p = sampling.probabilities(logits)
            count, bonus = accept(drafts, p[:, :0] if q is None else q, p, generator)
        for r, (row, n) in enumerate(zip(rows, count.tolist(), strict=True)):
            if active[r]:
                before = len(row.tokens)
                active[r] = _emit(row, [*drafts[r, :n].tolist(), int(bonus[r])], max_new_tokens, stop_ids)
                row.accepted.append(n)
                row.kept.append(len(row.tokens) - before)
        alive = torch.tensor(active, device=device)
        cache.keep(torch.where(alive, count + 1, 0))
        remember(output.features, start)
        # A finished row stands still, so that its buffers can't run over.
        anchor = torch.where(alive, bonus, anchor)
    return rows


def _emit(row: Generation, tokens: list[int], limit: int, stop_ids: Sequence[int]) -> bool:
    """Add tokens up to the limit or a stop token (kept); whether the row goes on."""
    for token in tokens[: limit - len(row.tokens)]:
        row.tokens.append(token)
        if token in stop_ids:
            row.stopped = True
            return False
    return len(row.tokens) < limit


def _draft(
    target: Target, drafter: Drafter, context: DraftContext, anchor: Tensor, start: Tensor,
    sampling: Sampling, generator: torch.Generator | None,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Draft tokens `[R, B-1]` and, unless greedy, the distributions `[R, B-1, V]` they were drawn from."""
    c = drafter.config
    ids = torch.full((anchor.shape[0], c.block_size), c.mask_token_id, device=anchor.device)
    ids[:, 0] = anchor
    attend = DecodeAttention(c, start)
    positions = start[:, None] + torch.arange(c.block_size, device=anchor.device)
    block = target.embed(ids).to(drafter.fc.weight.dtype)
    states = drafter.draft(block, positions, context.upto(attend.reach), attend)
    logits = target.head(states[:, 1:])
    if sampling.greedy:
        return logits.argmax(-1), None
    q = sampling.probabilities(logits)
    return draw(q, generator), q


def resized(drafter: Drafter, block_size: int) -> Drafter:
    """The same weights drafting blocks of another size."""
    other = Drafter(dataclasses.replace(drafter.config, block_size=block_size)).to(drafter.fc.weight)
    other.load_state_dict(drafter.state_dict())
    return other.eval()
