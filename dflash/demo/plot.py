"""The demonstration's picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dflash.errors import UserError


def plot(path: Path, log: list[dict[str, Any]], result: dict[str, Any]) -> None:
    """Tau over training steps with its interval, the blinded drafter's level, and the loss beside it."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise UserError("the plot needs the package matplotlib: install the 'dflash' extra") from None
    taus = [e for e in log if e["kind"] == "validate"]
    losses = [e for e in log if e["kind"] == "train"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    steps = [e["step"] for e in taus]
    left.fill_between(steps, [e["tau_low"] for e in taus], [e["tau_high"] for e in taus], alpha=0.2)
    left.plot(steps, [e["tau"] for e in taus], marker="o", label="temperature 0.7")
    left.axhline(
        result["tau_features_zeroed"], color="gray", linestyle="--", label="trained, features zeroed"
    )
    left.axhline(1, color="black", linewidth=0.8, label="no drafter")
    left.set(xlabel="training step", ylabel="tokens per target pass (τ)", ylim=(0.9, None))
    left.set_title(f"Acceptance on held-out code, block of {result['block_size']} bytes")
    left.legend(loc="upper left")
    right.plot([e["step"] for e in losses], [e["loss"] for e in losses])
    right.set(xlabel="training step", ylabel="KL to the target (nats, weighted)")
    right.set_title(f"Drafter loss; target at {result['target_loss']:.2f} nats per byte")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
