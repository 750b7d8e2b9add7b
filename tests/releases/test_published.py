"""Which releases an index has: from a folder, from a page, from JSON."""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from harness.bisect.candidates import choose
from harness.errors import UserError
from harness.releases import published

MACHINE = platform.machine()
BY_HTML = "text/html"
BY_JSON = "application/vnd.pypi.simple.v1+json"


def wheel(version: str, python: str = "311", where: str = f"manylinux_2_28_{MACHINE}", abi: str = "") -> str:
    return f"torch-{version}-cp{python}-{abi or f'cp{python}'}-{where}.whl"


FILES = {
    wheel("9.10.0"): "",
    wheel("9.9.0"): "",
    wheel("9.9.0", "312"): "",
    wheel("9.9.0", "313", abi="cp313t"): "",
    wheel("9.8.0", where="win_amd64"): "",
    wheel("9.7.0"): "broken metadata",
    wheel("9.6.0+cpu"): "",
    wheel("9.11.0rc1"): "",
    wheel("9.5.0"): "one of two",
    wheel("9.5.0", "312"): "",
    "torch-9.4.0.tar.gz": "",
    "torch-nonsense.whl": "",
}


class _Index(BaseHTTPRequestHandler):
    kind = BY_JSON

    def do_GET(self) -> None:
        if self.path != "/simple/torch/":
            self.send_error(404)
            return
        if self.kind == BY_JSON:
            body = json.dumps({"files": [{"filename": name, "yanked": why or False} for name, why in FILES.items()]})
        else:
            yanked = {name: f' data-yanked="{why}"' if why else "" for name, why in FILES.items()}
            body = "".join(f'<a href="../{name.replace("+", "%2B")}#sha256=0"{yanked[name]}>x</a>' for name in FILES)
        self.send_response(200)
        self.send_header("content-type", self.kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(params=[BY_JSON, BY_HTML])
def index(request: pytest.FixtureRequest) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), type("Index", (_Index,), {"kind": request.param}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    thread.join()
    server.server_close()


def test_in_the_order_of_pep_440_with_what_is_known(index):
    found = {each.version: (each.yanked, set(each.pythons)) for each in published(index)}
    assert list(found) == ["9.5.0", "9.6.0", "9.7.0", "9.8.0", "9.9.0", "9.10.0", "9.11.0rc1"]
    assert found["9.9.0"] == ("", {"3.11", "3.12"})
    assert found["9.8.0"] == ("", set())
    assert found["9.7.0"] == ("broken metadata", {"3.11"})
    assert found["9.5.0"][0] == ""  # one file of two


def test_a_folder_of_wheels(tmp_path: Path):
    for name in FILES:
        (tmp_path / name).touch()
    versions = [each.version for each in published(str(tmp_path))]
    assert versions == [each.version for each in published(tmp_path.as_uri())]
    assert versions[0] == "9.5.0"
    with pytest.raises(UserError, match="No such file"):
        published(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no wheel of torch there"):
        published(str(tmp_path / "empty"))


def test_without_a_network_it_is_one_line(index):
    host = index.replace("/simple", "/nowhere")
    with pytest.raises(UserError, match="can't be asked of .*Not Found.*--cached-only"):
        published(host)
    with pytest.raises(UserError, match="can't be asked of http://127.0.0.1:9"):
        published("http://127.0.0.1:9/simple")


def test_what_lies_between_and_what_is_left_out(index):
    chosen, left_out = choose("9.6.0", "9.10.0", "3.11", index=index)
    assert chosen == ["9.6.0", "9.9.0", "9.10.0"]
    assert left_out == {"9.7.0": "yanked (broken metadata)", "9.8.0": "no wheel for Python 3.11"}
    assert choose("9.6.0", "9.10.0", "3.11", index=index, yanked=True)[0] == ["9.6.0", "9.7.0", "9.9.0", "9.10.0"]
    assert choose("9.9", "9.11.0rc1", "3.11", index=index)[0] == ["9.9.0", "9.10.0", "9.11.0rc1"]


@pytest.mark.parametrize(
    ("old", "new", "python", "says"),
    [
        ("9.6.1", "9.10.0", "3.11", r"--old 9\.6\.1: no such release \(near it: 9\.6\.0"),
        ("9.6.0", "9.7.0", "3.11", r"--new 9\.7\.0: was yanked \(broken metadata\); --yanked"),
        ("9.6.0", "9.9.0", "3.14", r"--old 9\.6\.0: no wheel for Python 3\.14 on this machine \(there are for: 3\.11\)"),
    ],
)
def test_ends_that_are_not_to_be_had(index, old, new, python, says):
    with pytest.raises(UserError, match=says):
        choose(old, new, python, index=index)


def test_nightlies_by_date(tmp_path: Path):
    days = ("20261001", "20261003", "20261004", "20261008")
    for day in days:
        (tmp_path / wheel(f"9.{10 if day < '20261004' else 11}.0.dev{day}+cpu")).touch()
    (tmp_path / wheel("9.10.0")).touch()
    chosen, left_out = choose("2026-10-02", "2026-10-05", "3.11", index=str(tmp_path))
    assert chosen == [f"9.{10 if day < '20261004' else 11}.0.dev{day}" for day in days]
    assert left_out == {}
    with pytest.raises(UserError, match="no nightly of that time"):
        choose("2026-10-02", "2026-10-09", "3.11", index=str(tmp_path))
