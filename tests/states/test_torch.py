"""On real torch: the known culprits are found by the scan itself, named nowhere."""

from __future__ import annotations

import pytest

from harness.scenario import TORCH_MODULES
from harness.states import Table, scan

torch = pytest.importorskip("torch")
OLD = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) <= (2, 13)


@pytest.fixture(scope="module")
def table() -> Table:
    import torch._dynamo
    import torch.fx.experimental.proxy_tensor  # noqa: F401

    return scan(TORCH_MODULES)


def sites(table: Table, state: str, write: bool) -> set[str]:
    return {
        code.code.co_filename.rpartition("/torch/")[2] + ":" + code.qualname
        for code in table.codes.values()
        for accesses in code.sites.values()
        for access in accesses
        if access.state == state and access.write is write
    }


@pytest.mark.skipif(not OLD, reason="the flag is thread-local from 2.14")
def test_the_tracing_flag(table: Table) -> None:
    state = "torch.fx._symbolic_trace._is_fx_tracing_flag"
    assert state in table.states
    assert state in table.save_restore
    writers = sites(table, state, True)
    assert "fx/_symbolic_trace.py:Tracer.trace" in writers
    assert any(name.startswith("_higher_order_ops/utils.py:_set_compilation_env") for name in writers)
    readers = sites(table, state, False)
    assert any(name.startswith("fx/_symbolic_trace.py:is_fx") for name in readers)


def test_the_patcher(table: Table) -> None:
    state = next(state for state in table.states if state.endswith(".CURRENT_PATCHER"))
    assert sites(table, state, True)
    assert state in table.save_restore


@pytest.mark.skipif(not OLD, reason="thread-local from 2.14")
def test_the_compiling_flag(table: Table) -> None:
    state = next(state for state in table.states if state.endswith("._is_compiling_flag"))
    assert sites(table, state, True)
    assert "compiler/__init__.py:is_compiling" in sites(table, state, False)


def test_declared_states_are_there(table: Table) -> None:
    assert "torch.nn.modules.module.Module.__call__" in table.states
    assert "torch.nn.modules.module.Module.__getattr__" in table.save_restore
    calls = [code for code in table.codes.values() if code.qualname == "Module._wrapped_call_impl"]
    assert [access.point for access in calls[0].entry] == ["read:torch.nn.modules.module.Module.__call__"]


def test_size(table: Table) -> None:
    """An order of magnitude: neither blind nor drowned."""
    assert 40 < len(table.states) < 1000
    assert 200 < table.sites < 10_000
