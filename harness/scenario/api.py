"""What a scenario is: set-up, thread bodies, and what must hold afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.states.kinds import ALL, WITH_TORCH

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
"""What a body may return: it travels through a pipe as JSON and is compared by value."""

Axes = Mapping[str, Any]
"""The chosen value of every declared axis, and ``threads``, the number of threads (int)."""

#: Packages whose process-wide state decides the fate of a ``torch.compile`` program.
TORCH_MODULES: tuple[str, ...] = (
    "torch.fx",
    "torch._dynamo",
    "torch._functorch",
    "torch._higher_order_ops",
    "torch.compiler",
    "torch.nn.modules.module",
    "torch._guards",
    "torch._subclasses",
    "torch.utils._python_dispatch",
    "torch.utils._pytree",
    "torch.utils.checkpoint",
    "torch.nn.attention.flex_attention",
)

MAX_THREADS = 8

#: Kinds of failures, the first found naming a run's outcome; what a scenario ``expect``s comes before all.
OUTCOMES = (
    "crash", "deadlock", "hang", "error", "wrong value", "graph changed", "state leaked", "not compiled", "not aligned",
)  # fmt: skip

#: Words of schedules and tokens that no axis can be called.
RESERVED = ("threads", "first", "mode", "order")

#: What a run is compared with, see ``Scenario.sequential``.
Compares = bool | Literal["main", "collected"] | dict[str, Any] | None


@dataclass(frozen=True)
class Scenario:
    """A small concurrent program whose interleavings are to be explored.

    bodies
        One plain function per role, called with what ``setup`` returned, each in a thread of its own. Thread i
        runs ``bodies[i % len(bodies)]``. What it returns must be plain data (numbers, strings, lists, dicts).
    setup
        ``setup(axes)`` runs in the main thread of every run, uncontrolled. What it returns is shared.
    fork_after_setup
        Set-up is run once for each choice of threads, axes and fix, and the runs are forked from there: faster where
        set-up is most of the work. A promise that it leaves nothing outside the process that runs could share (files,
        sockets, threads); one that starts a thread is run in every run all the same.
    prepare
        ``prepare()`` runs once in the process that all runs are forked from: imports and caches that cost time and
        change nothing. It must start no thread.
    check
        ``check(shared, results)`` runs after all threads ended; an ``AssertionError`` is the outcome ``wrong
        value``. ``results[i]`` is what thread i returned, None where it raised.
    probes
        ``probe(shared)`` is called when the threads have ended, one probe after the other: does the process still
        work? What it raises is an error; what it returns is compared as results are.
    sequential
        Must the outcome (results, ``shared``, the file's own state, probes; by value) be that of some order of the
        threads, each run to its end? Default: yes where there is no ``check`` and no thread waits for another. Turn it
        off for bodies that may be interleaved, on to have it beside ``check``. ``"main"``: of some order in which the
        thread that did the set-up runs the bodies itself, so that being in a thread may make no difference either; no
        body may wait for another. ``"collected"``: of some order, and runs in which a collection ran code of the program are
        no exception. A promise that each body ends with ``gc.collect()``, so that only *when* garbage is collected differs.
        Values of axes: results and what probes return must be those of some order with these values, so that these axes
        may make none.
    axes
        Name to the values it may take. The first value is the default.
    modules
        Packages or modules whose process-wide state is scanned for points. The scenario's own file is always
        among them.
    fine
        Modules in whose functions every place where control could change hands is a point. The scenario's own
        file is always among them.
    points
        Kinds of points to look for (``harness.states.kinds.ALL``); default: all of them, and with torch those of
        ``harness.states.kinds.WITH_TORCH``.
    entries
        Packages in whose functions every start is a point, where nothing finer helps.
    threads
        (fewest, most) threads that make sense; default (len(bodies), 8), or exactly len(bodies) with
        ``fixed_threads``.
    expect
        The outcome by which this scenario fails, where it is not an error ("state leaked", say): a finding of
        that kind is named as the run's outcome before all others.
    leaks
        The process-wide states that must be as before when all is over, by full name (settings of torch too); those that
        this release lacks are passed over. Default: every state that some function saves and later puts back.
    seconds
        A run that takes longer than this is a ``hang``. It decides nothing else.

    Raises ValueError when there is no body, or an axis has no value or a name in ``RESERVED``,
    or for a kind of point that is none.
    """

    bodies: Sequence[Callable[[Any], Any]]
    setup: Callable[[Axes], Any] | None = None
    check: Callable[[Any, list[Any]], None] | None = None
    fork_after_setup: bool = False
    prepare: Callable[[], None] | None = None
    summary: str = ""
    axes: Mapping[str, Sequence[Plain]] = field(default_factory=dict)
    modules: Sequence[str] = ()
    fine: Sequence[str] = ()
    points: Sequence[str] | None = None
    entries: Sequence[str] = ()
    probes: Sequence[Callable[[Any], Any]] = ()
    sequential: bool | Literal["main", "collected"] | Mapping[str, Plain] | None = None
    threads: tuple[int, int] | None = None
    expect: str | None = None
    leaks: Sequence[str] | None = None
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.bodies, Sequence) or not self.bodies:
            raise ValueError("bodies: a scenario needs a list of at least one thread body")
        if self.expect is not None and self.expect not in OUTCOMES:
            raise ValueError(f"expect={self.expect!r}: one of {', '.join(OUTCOMES)}")
        for name, values in self.axes.items():
            if name in RESERVED or not name.isidentifier():
                raise ValueError(f"axis {name!r}: not a name an axis can have")
            if not values:
                raise ValueError(f"axis {name!r} has no value")
            try:
                json.dumps(list(values))
            except (TypeError, ValueError) as error:
                raise ValueError(f"axis {name!r}: a value is not plain data: {error}") from None
        for name in self.points or ():
            if name not in ALL:
                raise ValueError(f"points: no kind {name!r}; there are {', '.join(ALL)}")
        if not isinstance(self.seconds, (int, float)) or not 0.01 <= self.seconds <= 1e6:
            raise ValueError(f"seconds={self.seconds!r}: a number from 0.01 to a million")
        if isinstance(self.sequential, Mapping):
            if not self.sequential:
                raise ValueError("sequential: values of which axes?")
            for name, value in self.sequential.items():
                if value not in self.axes.get(name, ()):
                    raise ValueError(f"sequential: {name}={value!r} is no value of an axis")
        elif self.sequential not in (None, False, True, "main", "collected"):
            raise ValueError(f"sequential={self.sequential!r}: True, False, 'main', 'collected' or values of axes")
        for option in ("modules", "fine", "leaks"):
            if isinstance(getattr(self, option), str):
                raise ValueError(f"{option}: a list of names, not one string")
        if self.threads is not None and not all(isinstance(n, int) and n <= 99 for n in self.threads):
            raise ValueError(f"threads={self.threads}: two whole numbers, at most 99")
        low, high = self.thread_range
        if not 1 <= low <= high:
            raise ValueError(f"threads={self.threads}: fewest first, at least 1")

    @property
    def thread_range(self) -> tuple[int, int]:
        return self.threads or (len(self.bodies), max(len(self.bodies), MAX_THREADS))

    @property
    def needs_torch(self) -> bool:
        return any(name.split(".")[0] == "torch" for name in self.modules)

    @property
    def compares(self) -> Compares:
        """None: where no thread waits for another."""
        if isinstance(self.sequential, Mapping):
            return dict(self.sequential)
        return False if self.sequential is None and self.check is not None else self.sequential

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.points) if self.points is not None else WITH_TORCH if self.needs_torch else ALL

    def body(self, index: int) -> Callable[[Any], Any]:
        return self.bodies[index % len(self.bodies)]
