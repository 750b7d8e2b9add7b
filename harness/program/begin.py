"""What every run of a program begins with, wherever it is forked, and why there may be none."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable

from harness.control import active
from harness.errors import CannotTest, UserError
from harness.run.outcome import text_of

from .collected import Ends, Failed, failed
from .command import Command
from .one import Run
from .world import ProgramWorld

_NO_SUCH_TEST = 4  # pytest's "usage error"


class Forked(BaseException):
    """Leaves the server's loop, in the process of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run


def begin(run: Run, world: ProgramWorld) -> None:
    """In the thread that starts the program's first thread."""
    Ends.call = run.end
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        run.begin(world)
    except Exception as error:
        if not isinstance(error, UserError):
            traceback.print_exc()
        run.broken(error)


def carried_out(program: Callable[[], None], at_first_thread: Callable[[], None]) -> BaseException | None:
    """What the program ended with. ``at_first_thread`` is called where it is about to start one."""
    active.at_first_thread = at_first_thread
    try:
        program()
    except BaseException as error:
        return error
    finally:
        active.at_first_thread = None
    return None


def nothing_started(command: Command, error: BaseException | None) -> CannotTest | UserError:
    """Why there is nothing to schedule."""
    if failed:
        test, raised = failed[0]
        return CannotTest(f"{command.line}: fails without any thread: {test}: {type(raised).__name__}: {text_of(raised)}")
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return CannotTest(f"{command.line}: it started no thread, so there is nothing to schedule")
    if isinstance(error, Failed) and error.status == _NO_SUCH_TEST:
        return UserError(f"{command.line}: {error}: no such file or test, or an option that it does not know")
    if isinstance(error, Failed):
        return CannotTest(f"{command.line}: {error}, and no test started a thread")
    return CannotTest(f"{command.line}: fails before it starts a thread: {type(error).__name__}: {text_of(error)}")
