"""Two threads load the module "codec" on first use, through the table ``importer.loaded``.

``load`` holds the re-entrant ``importer.lock`` from the look into ``loaded`` to the end of ``run_body``: only
the thread that runs the body, importing in a cycle, could see the module unfinished.
"""

import threading
from typing import Any

from harness import Axes, Scenario


class Module:
    limit: int


class Importer:
    def __init__(self) -> None:
        self.loaded: dict[str, Module] = {}
        self.lock = threading.RLock()


def setup(axes: Axes) -> Importer:
    return Importer()


def run_body(module: Module) -> None:
    module.limit = 5


def load(importer: Importer, name: str) -> Module:
    with importer.lock:
        module = importer.loaded.get(name)
        if module is None:
            module = importer.loaded[name] = Module()
            run_body(module)
        return module


def use(importer: Importer) -> int:
    return load(importer, "codec").limit


def check(importer: Importer, results: list[Any]) -> None:
    assert results == [5] * len(results), f"some thread used an unfinished module: {results}"


lazy_import = Scenario(
    bodies=(use, use),
    setup=setup,
    check=check,
    summary="a module is looked up and run under a re-entrant lock",
)
