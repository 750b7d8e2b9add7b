"""Two threads load the module "codec" on first use, through the table ``loaded``.

``load`` enters the module into ``loaded`` before ``run_body`` has filled it, as cyclic imports want it.
A thread that asks in between gets the unfinished module, whose ``limit`` raises AttributeError.
"""

from typing import Any

from harness import Axes, Scenario


class Module:
    limit: int


def setup(axes: Axes) -> dict[str, Module]:
    return {}


def run_body(module: Module) -> None:
    module.limit = 5


def load(loaded: dict[str, Module], name: str) -> Module:
    module = loaded.get(name)
    if module is None:
        module = loaded[name] = Module()
        run_body(module)
    return module


def use(loaded: dict[str, Module]) -> int:
    return load(loaded, "codec").limit


def check(loaded: dict[str, Module], results: list[Any]) -> None:
    assert results == [5] * len(results), f"some thread used an unfinished module: {results}"


lazy_import = Scenario(
    bodies=(use, use),
    setup=setup,
    check=check,
    summary="a module can be found before its body has run",
)
