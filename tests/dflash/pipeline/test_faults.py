"""Whatever ends a pipeline: no hang, one line with thread and cause, a checkpoint from which the run goes on."""

from __future__ import annotations

import os
import re
import signal
import threading
from pathlib import Path

import pytest
import torch
from pipelines import make, run, same

from dflash.errors import UserError
from dflash.pipeline import PipelineSettings
from dflash.pipeline.board import Board
from dflash.pipeline.interrupt import Interrupted
from dflash.pipeline.trainer import ThreadedTrainer
from dflash.pipeline.window import Window
from dflash.pipeline.workers import DrafterWorker
from dflash.train import checkpoint

TWO = {"targets": ("cpu", "cpu"), "drafters": ("cpu", "cpu")}


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict], dict]:
    return run(make(tmp_path_factory.mktemp("one")))


def fails(trainer: ThreadedTrainer, error: type[BaseException] = UserError) -> str:
    """What the run ends with; all its threads are gone."""
    before = threading.active_count()
    with pytest.raises(error) as caught:
        trainer.run()
    assert threading.active_count() <= before  # one of another test may have ended meanwhile
    assert "\n" not in str(caught.value)
    return str(caught.value)


def goes_on(root: Path, step: int, single: tuple[list[dict], dict]) -> None:
    """From the checkpoint that was left, the rest of the run is that of a run without the fault."""
    again = make(root, **TWO)
    assert again.resume() == step
    curve, weights = run(again)
    assert same((curve, weights), (single[0][step:], single[1]))


def raising(step: int, error: BaseException):
    """`DrafterWorker.work` that raises in the given step (from 0) of drafter 1."""
    plain = DrafterWorker.work

    def work(self, made):
        if made.job.step == step and made.job.drafter == 1:
            raise error
        return plain(self, made)

    return work


def test_a_dying_target_worker(single, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make(tmp_path, **TWO)
    real, seen = trainer.target.__class__.read, []

    def read(self, *arguments):
        seen.append(self)
        if len(seen) == 9:
            raise RuntimeError("the device fell off") from ValueError("bus error")
        return real(self, *arguments)

    monkeypatch.setattr(trainer.target.__class__, "read", read)
    text = fails(trainer)
    assert re.search(r"^target [01] \(cpu\), reads micro-batch \d+ \(step \d\): RuntimeError: bus error; ", text)
    step = int(re.search(r"the checkpoint of step (\d)", text)[1])
    assert "RuntimeError: the device fell off" in (tmp_path / "out" / "failure.txt").read_text()
    monkeypatch.undo()
    goes_on(tmp_path, step, single)


def test_a_drafter_out_of_memory(single, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nmore lines")
    monkeypatch.setattr(DrafterWorker, "work", raising(3, error))
    text = fails(make(tmp_path, **TWO))
    assert text.startswith("drafter 1 (cpu), trains on micro-batch 10 (step 4): OutOfMemoryError: CUDA out of memory.")
    assert "lower train.anchors" in text
    assert "the checkpoint of step 3 is" in text
    assert [p.name for p in checkpoint.find(tmp_path / "out" / "checkpoints")] == ["step-00000002", "step-00000003"]
    monkeypatch.undo()
    goes_on(tmp_path, 3, single)


def test_an_exit_in_a_thread_is_no_quiet_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DrafterWorker, "work", raising(1, SystemExit(0)))
    assert "drafter 1 (cpu), trains on micro-batch 4 (step 2): SystemExit: 0" in fails(make(tmp_path, **TWO))


def test_nan_in_one_replica(single, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = DrafterWorker.work

    def work(self, made):
        found = real(self, made)
        if made.job.step == 4 and made.job.drafter == 1:
            return type(found)(found.job, found.tensors, float("nan"), found.statistics)
        return found

    monkeypatch.setattr(DrafterWorker, "work", work)
    text = fails(make(tmp_path, **TWO))
    assert "step 5: the loss of drafter 1 (cpu) is not finite" in text
    monkeypatch.undo()
    goes_on(tmp_path, 4, single)


def test_a_gradient_that_is_not_finite(single, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = DrafterWorker.work

    def work(self, made):
        found = real(self, made)
        if made.job.step == 4 and made.job.drafter == 1:
            found.tensors[0].fill_(float("inf"))
        return found

    monkeypatch.setattr(DrafterWorker, "work", work)
    assert "step 5 (epoch" in (text := fails(make(tmp_path, **TWO)))
    assert "the gradient is not finite" in text
    monkeypatch.undo()
    goes_on(tmp_path, 4, single)


def test_bad_data_in_the_feeder(tmp_path: Path) -> None:
    trainer = make(tmp_path, **TWO)
    real, count = trainer.batches._next_pieces, []

    def pieces():
        count.append(1)
        if len(count) == 12:
            raise UserError("data.jsonl: a record can't be used: no text")
        return real()

    trainer.batches._next_pieces = pieces
    assert re.search(r"^feeder, reads data for step \d: data.jsonl: a record can't be used: no text; the", fails(trainer))


@pytest.fixture
def heard():
    """A run in the background is started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupted_between_steps(heard, single, tmp_path: Path) -> None:
    """The signal comes while the coordinator is in the optimizer step, which must not be left half done."""
    trainer = make(tmp_path, **TWO)
    step = trainer.optimizer.step

    def signalled(*arguments):
        if trainer.step == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return step(*arguments)

    trainer.optimizer.step = signalled
    text = fails(trainer, Interrupted)
    assert "the checkpoint of step 3 is" in text
    goes_on(tmp_path, 3, single)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_not_held_back_and_saves_nothing_half_done(heard, tmp_path: Path) -> None:
    trainer = make(tmp_path, **TWO)

    def signalled(*_):
        with torch.no_grad():
            trainer.drafter.fc.weight.zero_()  # as much of a step as was done
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    trainer.optimizer.step = signalled
    assert "no checkpoint was written yet" in fails(trainer, Interrupted)
    assert checkpoint.find(tmp_path / "out" / "checkpoints") == []


def test_full_queues_at_shutdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything before the drafters is full when one of them fails: nobody is left waiting to put."""
    full = threading.Event()
    real = Window.put

    def put(self, number, item):
        if number >= self.next + self.size and self.size == 1:
            full.set()
        real(self, number, item)

    def work(self, made):
        assert full.wait(60)
        raise RuntimeError("enough")

    monkeypatch.setattr(Window, "put", put)
    monkeypatch.setattr(DrafterWorker, "work", work)
    assert "RuntimeError: enough" in fails(make(tmp_path, **TWO, depth=1))


def test_a_worker_without_a_sign_of_life_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    real = DrafterWorker.work

    def work(self, made):
        if made.job.step == 1 and made.job.drafter == 1:
            released.wait(60)
        return real(self, made)

    monkeypatch.setattr(DrafterWorker, "work", work)
    monkeypatch.setattr("dflash.pipeline.threads._GRACE", 0.1)
    trainer = make(tmp_path, **TWO, patience=0.5)
    with pytest.raises(UserError, match=r"drafter 1 \(cpu\), trains on .*NoSignOfLife: no sign of life for .* did not end"):
        trainer.run()
    released.set()
    for thread in trainer.threads.threads:
        thread.join(60)


def test_a_thread_that_is_gone_without_a_word_is_noticed() -> None:
    board = Board(patience=1000)
    gone = threading.Thread(target=lambda: board.join("drafter 0"))
    gone.start()
    gone.join()
    with pytest.raises(Exception, match="^$"), board.condition:
        board.wait(lambda: False)
    assert board.failure is not None
    assert (board.failure.who, str(board.failure.error)) == ("drafter 0", "the thread is gone")


def test_full_disk_at_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = make(tmp_path, **TWO)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    assert "the disk is full" in fails(trainer)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"drafters": ()}, "pipeline.drafters is empty"),
        ({"targets": ()}, "pipeline.targets is empty"),
        ({"depth": 0}, "must be positive"),
        ({"compile": "never"}, "pipeline.compile 'never' is unknown"),
    ],
)
def test_settings_without_a_meaning_are_refused(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PipelineSettings(**changes)


@pytest.mark.parametrize(
    ("fix", "words"), [("magic", "pipeline.fix: unknown fix 'magic'"), ("per_process", "not one for threads")]
)
def test_fixes_that_are_none_for_threads(fix: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        make(tmp_path, **TWO, fix=fix).run()

