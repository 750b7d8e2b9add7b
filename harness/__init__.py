"""Deterministic exploration of thread schedules, for torch.compile and anything else."""
