"""Libraries that define what is wanted of those that are missing."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from harness.releases import standins

pytestmark = pytest.mark.skipif(bool(standins.possible()), reason=standins.possible())

CUDA = "int cudaGetDeviceCount(int *n) { *n = 1; return 0; } int cudaFree(void *p) { return 7; }"
NCCL = "int ncclInit(void) { return 7; }  int ncclTable[4] = {1};"
TORCH = """
int cudaGetDeviceCount(int *n); int cudaFree(void *p); int ncclInit(void); extern int ncclTable[4];
int devices(void) { int n = -1; return cudaGetDeviceCount(&n); }
int others(void) { return cudaFree(0) + ncclInit() + ncclTable[0]; }
"""


def cc(folder: Path, name: str, source: str, *options: str) -> None:
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", name, f"{name}.c", *options], cwd=folder, check=True)


@pytest.fixture
def torch_lib(tmp_path: Path) -> Path:
    """A library linked to two others, one with versions, that are then taken away."""
    (tmp_path / "versions").write_text("OF_CUDA { global: *; };\n")
    cc(tmp_path, "libfakecuda.so.1", CUDA, "-Wl,--version-script=versions", "-Wl,-soname,libfakecuda.so.1")
    cc(tmp_path, "libfakenccl.so.2", NCCL, "-Wl,-soname,libfakenccl.so.2")
    lib = tmp_path / "lib"
    lib.mkdir()
    cc(tmp_path, "libtorch.so", TORCH, "./libfakecuda.so.1", "./libfakenccl.so.2", "-Wl,-z,now,-rpath,$ORIGIN")
    (tmp_path / "libtorch.so").rename(lib / "libtorch.so")
    return lib


def test_what_is_missing_is_made_and_the_library_loads(torch_lib: Path):
    load = [sys.executable, "-c", f"import ctypes; ctypes.CDLL('{torch_lib}/libtorch.so')"]
    assert subprocess.run(load, capture_output=True, check=False).returncode != 0
    assert standins.build(torch_lib) == ["libfakecuda.so.1", "libfakenccl.so.2"]
    library = ctypes.CDLL(str(torch_lib / "libtorch.so"))
    assert library.devices() == 100  # no device
    assert library.others() == 0


def test_nothing_is_made_where_nothing_is_missing(torch_lib: Path):
    standins.build(torch_lib)
    assert standins.build(torch_lib) == []


def test_what_the_system_has_is_not_made_though_it_is_asked_for_without_a_version(tmp_path: Path, torch_lib: Path):
    """torch 2.0: an allocator of ours, or an exception thrown by ours, would be found before the C++ library's."""
    cc(tmp_path, "libloose.so", "int getpid(void); int none(void); int both(void) { return getpid() + none(); }", "-nostdlib")
    cc(tmp_path, "libusual.so", "int getppid(void); int parent(void) { return getppid(); }")
    for name in ("libloose.so", "libusual.so"):
        (tmp_path / name).rename(torch_lib / name)
    made = standins.build(torch_lib)
    defined = set().union(*(standins._symbols(torch_lib / name)[0] for name in made))
    assert "none" in defined
    assert "getpid" not in defined
