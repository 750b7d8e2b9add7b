"""What a fix leaves changed when it is no longer in force is named; one that cleans up is not blamed."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from support.programs import write

from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import Schedule

BODIES = """
TABLE = {}

class Counter:
    pass

def successor(value=1):
    return value

scenario = Scenario([successor, successor])
"""

#: What is done before the ``yield``, what after it, and what is told.
CASES = {
    "nothing": ("pass", "pass", []),
    "new_import": ("import colorsys, wave", "pass", []),
    "import_with_filters": ("sys.modules['new_here'] = types.ModuleType('new_here'); warnings.simplefilter('always')", "pass", []),
    "restored": ("old = json.dumps; json.dumps = len", "json.dumps = old", []),
    "cancelled_timer": ("timer = threading.Timer(3600.0, len); timer.start()", "timer.cancel()", []),
    "pool": ("pool = ThreadPoolExecutor(1); pool.submit(len, ())", "pool.shutdown(wait=False)", []),
    "filters": ("warnings.simplefilter('always')", "pass", ["warnings.filters"]),
    "at_exit": ("atexit.register(len)", "pass", ["atexit, the number of functions"]),
    "library_at_exit": ("import multiprocessing; multiprocessing.Lock()", "pass", []),
    "trace": ("threading.settrace(lambda *_: None)", "pass", ["threading.gettrace()"]),
    "limit": ("resource.setrlimit(resource.RLIMIT_CORE, (0, 0))", "pass", ["resource.getrlimit(RLIMIT_CORE)"]),
    "mask": ("signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])", "pass", ["signal.pthread_sigmask()"]),
    "timer": ("signal.setitimer(signal.ITIMER_REAL, 3600)", "pass", ["signal.getitimer(ITIMER_REAL) runs"]),
    "umask": ("os.umask(0o7)", "pass", ["umask"]),
    "library": ("json.decoder.JSONDecoder.decode = len", "pass", ["json.decoder.JSONDecoder.decode"]),
    "code": ("json.load.__code__ = (lambda: 1).__code__", "pass", ["json.load"]),
    "taken_out": ("del sys.modules['json']", "pass", ["json in sys.modules"]),
    "entry": ("scn.TABLE['x'] = 1", "pass", ["scn.TABLE"]),
    "class_attribute": ("scn.Counter.more = 1", "pass", ["scn.Counter.more"]),
    "defaults": ("scn.successor.__defaults__ = (2,)", "pass", ["scn.successor"]),
    "child": ("child = subprocess.Popen(['sleep', '100000'])", "pass", ["the number of child processes"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("residue")
    reference = write(folder, BODIES, "scn")
    source = """
        import atexit, contextlib, json, os, resource, signal, subprocess, sys, threading, types, warnings
        from concurrent.futures import ThreadPoolExecutor
    """
    for name, (before, after, _) in CASES.items():
        source += f"""
        @contextlib.contextmanager
        def {name}():
            scn = sys.modules["scn"]
            {before}
            yield
            {after}
        """
    fixes = folder / "own.py"
    fixes.write_text(dedent(source))
    with Launcher(reference, jobs=1) as launcher:

        def residue(name: str) -> list[str]:
            return list(launcher.run(Job(Schedule(reference, 2), f"{fixes}:{name}", residue=True)).results)

        yield residue


@pytest.mark.parametrize("name", CASES)
def test_it_is_told(left, name: str) -> None:
    assert left(name) == CASES[name][2]
