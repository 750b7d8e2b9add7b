"""Empty stand-ins for the CUDA libraries that a torch built for CUDA is linked to, for machines without a GPU.

torch's own shared objects name the libraries they need and, symbol by symbol, what they want of them. A tiny library
that defines just these names lets the dynamic linker, and so ``import torch``, succeed: all that runs on a CPU works,
Inductor included. Nothing that calls CUDA does: ``cudaGetDeviceCount`` says that there is no device, every other
function returns 0 and does nothing.

Needs ``readelf`` and a C compiler (``cc``).
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from harness.errors import CannotTest

_RETURN = {"x86_64": "mov ${0}, %eax\n\tret", "aarch64": "mov w0, #{0}\n\tret"}
_NO_DEVICE = 100  # cudaErrorNoDevice
_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
_SYSTEM = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")


class Symbol(NamedTuple):
    name: str
    version: str  # empty where the library has no versions
    is_data: bool


def possible() -> str:
    """Empty, or what is missing on this machine."""
    if platform.machine() not in _RETURN:
        return f"no stand-ins for {platform.machine()}"
    missing = [tool for tool in ("readelf", "cc") if shutil.which(tool) is None]
    return f"{' and '.join(missing)} not found" if missing else ""


def build(folder: Path) -> list[str]:
    """Put what is missing into ``torch/lib``; the names of the libraries made. Raises CannotTest where it can't be."""
    if problem := possible():
        raise CannotTest(f"stand-ins for the CUDA libraries: {problem}")
    objects = sorted(folder.glob("*.so*"))
    needed = {name: _needed(path) for name, path in ((path.name, path) for path in objects)}
    have = set(needed)
    all_needed = {name for names in needed.values() for name in names}
    system = _of_system()
    missing = sorted(all_needed - have - set(system))
    if not missing:
        return []
    wanted: dict[str, set[Symbol]] = {name: set() for name in missing}
    # torch 2.0 asks for some of the C++ library without a version: ours must not come before the real ones
    defined = set().union(*(_symbols(system[name])[0] for name in all_needed - have if name in system))
    loose: set[Symbol] = set()
    for path in objects:
        mine, theirs = _symbols(path)
        defined |= mine
        library_of = _versions(path)
        for symbol in theirs:
            library = library_of.get(symbol.version, "")
            if library in wanted:
                wanted[library].add(symbol)
            elif not symbol.version:
                loose.add(symbol)
    # Without a version nothing says whose they are; any library that is loaded will do.
    wanted[missing[0]] |= {symbol for symbol in loose if symbol.name not in defined}
    for name, symbols in wanted.items():
        _compile(folder / name, name, symbols)
    return missing


def _read(*arguments: str) -> str:
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True).stdout


def _needed(path: Path) -> set[str]:
    return set(_NEEDED.findall(_read("-d", str(path))))


def _of_system() -> dict[str, Path]:
    """Name -> path; of several the one that comes first in ``_SYSTEM``."""
    folders = [Path(root) for root in _SYSTEM] + [
        Path(root) / f"{platform.machine()}-linux-gnu" for root in ("/lib", "/usr/lib")
    ]
    return {path.name: path for folder in reversed(folders) if folder.is_dir() for path in folder.glob("*.so*")}


def _versions(path: Path) -> dict[str, str]:
    """Version name -> the library that torch wants it from."""
    found, library = {}, ""
    for line in _read("-V", str(path)).splitlines():
        if match := re.search(r"File: (\S+)", line):
            library = match[1]
        elif (match := re.search(r"Name: (\S+)", line)) and library:
            found[match[1]] = library
    return found


def _symbols(path: Path) -> tuple[set[str], list[Symbol]]:
    """(defined, undefined) dynamic symbols."""
    defined, undefined = set(), []
    for line in _read("--dyn-syms", str(path)).splitlines():
        parts = line.split()
        if len(parts) < 8 or not parts[0].endswith(":") or not parts[0][:-1].isdigit():
            continue
        kind, bind, where, (name, _, version) = parts[3], parts[4], parts[6], parts[7].partition("@")
        if where != "UND":
            defined.add(name)
        elif bind != "WEAK":
            undefined.append(Symbol(name, version.strip("@"), kind == "OBJECT"))
    return defined, undefined


def _compile(target: Path, soname: str, symbols: Iterable[Symbol]) -> None:
    symbols = sorted(symbols)
    returns = _RETURN[platform.machine()]
    code = ["\t.text"]
    for symbol in symbols:
        if symbol.is_data:
            code.append(f'\t.bss\n\t.globl "{symbol.name}"\n\t.type "{symbol.name}", %object\n"{symbol.name}":\n\t.zero 256\n\t.text')
        else:
            result = _NO_DEVICE if symbol.name == "cudaGetDeviceCount" else 0
            body = returns.format(result)
            code.append(f'\t.globl "{symbol.name}"\n\t.type "{symbol.name}", %function\n"{symbol.name}":\n\t{body}')
    code.append('\t.section .note.GNU-stack,"",%progbits\n')
    with tempfile.TemporaryDirectory() as scratch:
        source, script, made = Path(scratch, "empty.s"), Path(scratch, "versions"), Path(scratch, "made.so")
        source.write_text("\n".join(code))
        # In the script a node is needed for the version by which torch asks; names without one stay as they are.
        versions = sorted({symbol.version for symbol in symbols if symbol.version})
        script.write_text("".join(f"{version} {{ global: *; }};\n" for version in versions))
        command = ["cc", "-shared", "-nostdlib", f"-Wl,-soname,{soname}", "-o", str(made), str(source)]
        if versions:
            command.append(f"-Wl,--version-script={script}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotTest(f"stand-in for {soname}: {done.stderr.strip().splitlines()[-1]}")
        shutil.copyfile(made, target)
