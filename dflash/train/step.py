"""From a batch to the drafter's loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dflash import attention
from dflash.anchors import block_labels, eligible, sample_anchors
from dflash.data.batches import Batch
from dflash.loss import BlockStatistics, Objective, block_loss
from dflash.masks import Layout
from dflash.model import Drafter, DrafterConfig
from dflash.target import Target, TargetOutput
from dflash.target.base import Ends, positions_in_documents


@dataclass(frozen=True)
class Prepared:
    """A batch with its blocks chosen; `labels, present [R, A, B-1]`."""

    batch: Batch
    layout: Layout
    labels: Tensor
    present: Tensor

    def to(self, move: Callable[[Tensor], Tensor]) -> Prepared:
        """Every tensor through `move`."""
        batch, a = self.batch, self.layout
        layout = Layout(
            move(a.anchors), move(a.valid), move(a.documents), move(a.positions), a.block_size
        )
        return Prepared(batch.moved(move), layout, move(self.labels), move(self.present))


def prepare(batch: Batch, config: DrafterConfig, anchors: int, generator: torch.Generator) -> Prepared:
    """Draw `anchors` blocks per row."""
    candidates = eligible(batch.loss_mask, batch.documents)
    chosen, valid = sample_anchors(candidates, anchors, generator)
    size = config.block_size
    positions = positions_in_documents(batch.documents)
    layout = Layout(chosen, valid, batch.documents, positions, size)
    labels, present = block_labels(batch.tokens, batch.loss_mask, batch.documents, chosen, valid, size)
    return Prepared(batch, layout, labels, present)


def features_of(target: Target, batch: Batch, layer_ids: Sequence[int]) -> TargetOutput:
    """The target's outputs for a batch: read now, or those that came with it from a cache."""
    if batch.features is not None:
        final = batch.final if batch.final is not None else batch.features[..., :0]
        return TargetOutput(final, batch.features)
    with torch.no_grad():
        return target.read(batch.tokens, layer_ids, batch.documents)


def block_ids(prepared: Prepared, config: DrafterConfig) -> Tensor:
    """`[R, A, B]`: each block's anchor token, then masks."""
    anchors = prepared.batch.tokens.gather(1, prepared.layout.anchors)
    ids = torch.full((*anchors.shape, config.block_size), config.mask_token_id, device=anchors.device)
    ids[..., 0] = anchors
    return ids


def denoise(
    drafter: Drafter, target: Ends, prepared: Prepared, features: Tensor, backend: str, forward: nn.Module | None = None
) -> Tensor:
    """States of the draft slots, `[R*A, B-1, D]`; `forward` is what wraps the drafter, if anything does."""
    config, layout = drafter.config, prepared.layout
    weight = drafter.fc.weight
    ids = block_ids(prepared, config)
    block = target.embed(ids.flatten(1)).to(weight.dtype)  # [R, Q, D]
    attend = attention.build(backend, config, layout)
    states = (forward or drafter)(block, features.to(weight.dtype), layout.query_positions(), layout.positions, attend)
    return states.view(-1, config.block_size, config.hidden_size)[:, 1:]


def loss_of(
    drafter: Drafter, target: Ends, prepared: Prepared, output: TargetOutput, objective: Objective,
    denominator: float, backend: str, forward: nn.Module | None = None,
) -> tuple[Tensor, BlockStatistics]:  # fmt: skip
    """This batch's share of the step's loss (differentiable in the drafter) and its statistics."""
    states = denoise(drafter, target, prepared, output.features, backend, forward)
    labels, present = prepared.labels.flatten(0, 1), prepared.present.flatten(0, 1)
    final = None
    if objective.needs_target_logits:
        # The target predicts token a+k in its state at a+k-1.
        size = drafter.config.block_size
        index = prepared.layout.anchors[:, :, None] + torch.arange(size - 1, device=labels.device)
        index = index.clamp(max=output.final.shape[1] - 1).flatten(1)
        rows = torch.arange(index.shape[0], device=labels.device)[:, None]
        final = output.final[rows, index].view(-1, size - 1, output.final.shape[-1])
    return block_loss(states, labels, present, target.head, objective, denominator, final)
