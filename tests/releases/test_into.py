"""torch is put into an environment that is there, from a folder of wheels: what tox's nightly environment does."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("uv")
ROOT = Path(__file__).resolve().parents[2]


def wheel(folder: Path, version: str) -> None:
    info = f"torch-{version}.dist-info"
    files = {
        "torch/__init__.py": f"__version__ = {version!r}\n",
        "torch/version.py": "git_version = 'abc'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\nRequires-Dist: nvidia-cublas\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as made:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            made.writestr(name, text)


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Of an environment of its own that sees what we have installed, uv among it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    (site,) = (tmp_path / "env").glob("lib/python3*/site-packages")
    (site / "ours.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return tmp_path / "env" / "bin" / "python"


def nightly(python: Path, index: Path | str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TORCH_NIGHTLY_INDEX": str(index)}
    command = [str(python), str(ROOT / ".ci" / "nightly.py")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_newest_of_a_folder(tmp_path, python):
    for version in ("9.0.0.dev20261101", "9.0.0.dev20261103"):
        wheel(tmp_path, version)
    done = nightly(python, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run([str(python), "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True)
    assert said.stdout == "9.0.0.dev20261103\n"


@pytest.mark.parametrize(
    ("index", "says"),
    [
        ("{}", "which is no nightly build"),
        ("{}/nothing", "torch in {}/nothing:"),
        ("http://127.0.0.1:9/nightly", "http://127.0.0.1:9/nightly can't be reached"),
    ],
)
def test_one_line_where_there_is_none(tmp_path, python, index, says):
    wheel(tmp_path, "9.0.0")
    done = nightly(python, index.format(tmp_path))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("torch-nightly: ")
    assert says.format(tmp_path) in done.stderr
