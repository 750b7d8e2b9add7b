"""A disk that is really full, a small one in memory: one clear line, and the last checkpoint goes on."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_resume import make

from dflash.errors import UserError
from dflash.train import checkpoint


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True)
    if made.returncode:
        pytest.skip("mounting a small file system needs to be allowed")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_checkpoints_until_the_disk_is_full(small_disk: Path, tmp_path: Path) -> None:
    trainer = make(small_disk)
    trainer.run(until=3)
    (good,) = checkpoint.find(trainer.checkpoints)
    before = {p.name: p.read_bytes() for p in good.iterdir()}
    filler = small_disk / "other"
    room = shutil.disk_usage(small_disk).free
    filler.write_bytes(bytes(room - 60_000))  # leaves room for part of a checkpoint
    with pytest.raises(UserError, match=r"step-00000006: .*the disk is full.*earlier ones are whole") as caught:
        trainer.run()
    assert "\n" not in str(caught.value)
    assert [p.name for p in trainer.checkpoints.iterdir()] == ["step-00000003"]
    assert {p.name: p.read_bytes() for p in good.iterdir()} == before
    filler.unlink()
    again = make(small_disk)
    assert again.resume() == 3
    again.run(until=6)
    assert [p.name for p in checkpoint.find(again.checkpoints)] == ["step-00000003", "step-00000006"]
