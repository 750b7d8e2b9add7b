"""The command line as a user meets it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from models import tiny_target
from safetensors.torch import load_file

from dflash import build, config
from dflash.cli import main
from dflash.errors import UserError

TOML = """
[target]
path = "{root}/target"
tokenizer = "bytes"
dtype = "float32"

[drafter]
num_hidden_layers = 1
block_size = 4
features = 2
mask_token_id = 257

[data]
train = ["{root}/train.jsonl"]
validation = ["{root}/train.jsonl"]
length = 32
rows = 2

[train]
steps = 6
anchors = 4
lr = 1e-3
ema = 0.9

[output]
directory = "{root}/run"
log_every = 1
checkpoint_every = 2
validate_every = 3
validation_tokens = 6
validation_prompts = 2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A target on disk, prompts, and a configuration."""
    pytest.importorskip("transformers")
    tiny_target(vocab_size=258).save(tmp_path / "target")
    (tmp_path / "prompts.jsonl").write_text(
        "".join(json.dumps({"prompt": f"text {i}"}) + "\n" for i in range(7))
    )
    (tmp_path / "train.jsonl").write_text(
        "".join(json.dumps({"text": f"some text number {i} " * 3}) + "\n" for i in range(9))
    )
    (tmp_path / "run.toml").write_text(TOML.format(root=tmp_path))
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_from_prompts_to_an_evaluated_export(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = ["--target", project / "target", "--tokenizer", "bytes", "--dtype", "float32"]
    code, out, _ = call(
        capsys,
        "regenerate",
        *target,
        "--prompts",
        project / "prompts.jsonl",
        "--output",
        project / "own.jsonl",
        "--max-new-tokens",
        24,
        "--batch",
        3,
        "--temperature",
        0.8,
        "--json",
    )
    assert (code, json.loads(out)["prompts"]) == (0, 7)

    setting = f'data.train=["{project}/own.jsonl"]'
    code, out, _ = call(capsys, "train", project / "run.toml", "--set", setting, "--json")
    result = json.loads(out)
    assert (code, result["steps"], result["verified"]) == (0, 6, True)
    assert result["tau"] >= 1.0

    code, out, _ = call(capsys, "export", project / "run", project / "plain", "--json")
    assert (code, json.loads(out)["ok"]) == (0, True)
    code, out, _ = call(capsys, "export", project / "run", project / "averaged", "--ema", "--json")
    assert (code, json.loads(out)["ok"]) == (0, True)
    code, out, _ = call(capsys, "export", project / "run", project / "averaged", "--verify", "--json")
    assert code == 1, "the averaged weights are not the plain ones"
    assert json.loads(out)["largest_difference"] > 0

    drafter = ["--drafter", project / "averaged", "--max-new-tokens", 12]
    code, out, _ = call(capsys, "eval", *target, *drafter, "--prompts", project / "prompts.jsonl", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["lossless"] is True
    assert {"tau", "tau_low", "tau_high", "prompts", "speedup", "seconds"} <= set(report)
    code, out, _ = call(capsys, "generate", *target, *drafter, "--prompt", "text 3", "--json")
    _, plain, _ = call(capsys, "generate", *target, "--max-new-tokens", 12, "--prompt", "text 3", "--json")
    assert json.loads(out)["tokens"] == json.loads(plain)["tokens"]


def test_regeneration_goes_on_where_it_stopped(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "regenerate",
        "--target",
        project / "target",
        "--tokenizer",
        "bytes",
        "--prompts",
        project / "prompts.jsonl",
        "--max-new-tokens",
        9,
        "--batch",
        2,
        "--temperature",
        1.0,
        "--json",
        "--output",
    ]
    call(capsys, *command, project / "whole.jsonl")
    whole = (project / "whole.jsonl").read_bytes()
    call(capsys, *command, project / "part.jsonl")
    (project / "part.jsonl").write_bytes(whole[: len(whole) // 2])  # torn in the middle of a line
    code, out, _ = call(capsys, *command, project / "part.jsonl")
    assert code == 0
    assert json.loads(out)["reused"] in (2, 4)
    assert (project / "part.jsonl").read_bytes() == whole
    code, _, err = call(capsys, *command, project / "part.jsonl", "--seed", 5)
    assert code == 2
    assert "begun with another seed" in err


def test_cached_features_train_like_online_ones(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["--set", "data.rows=1", "--set", "drafter.block_size=3", "--set", "loss.kl=1.0"]
    code, _, err = call(capsys, "train", project / "run.toml", *one, "--set", "features.mode=cached")
    assert code == 0
    assert "feature cache:" in err
    assert "MB" in err
    assert (project / "run" / "features" / "index.json").exists()
    other = [
        "--set",
        f"output.directory={project}/other",
        "--set",
        f"features.directory={project}/run/features",
    ]
    code, _, err = call(capsys, "train", project / "run.toml", *one, *other, "--set", "features.mode=cached")
    assert code == 0, "a cache that fits is used again"
    code, _, err = call(
        capsys,
        "train",
        project / "run.toml",
        *other,
        "--set",
        "features.mode=cached",
        "--set",
        "data.length=16",
        "--set",
        f"output.directory={project}/third",
    )
    assert code == 2
    assert "caches features of another" in err


MISTAKES = [
    (["--set", "train.stepz=3"], r"unknown key train.stepz \(did you mean steps\?\)"),
    (["--set", "trian.steps=3"], r"unknown key trian \(did you mean train\?\)"),
    (["--set", "train.steps=0"], "train.steps: .*greater than or equal to 1"),
    (["--set", "train.lr=fast"], "train.lr: .*valid number"),
    (["--set", "steps"], "write it as section.key=value"),
    (["--set", "drafter.target_layer_ids=[1,5]"], "6 layers and its last cannot be tapped"),
    (["--set", "drafter.block_size=64"], "block_size 64 is longer than data.length 32"),
    (
        ["--set", "drafter.block_size=30", "--set", 'data.train=["{root}/short.jsonl"]'],
        "no text is as long as a block",
    ),
    (["--set", 'data.train=["{root}/bad.jsonl"]'], "bad.jsonl:2: not JSON"),
    (["--set", 'data.train=["{root}/none.jsonl"]'], "none.jsonl: can't be read"),
    (["--set", 'data.train=["{root}/empty.jsonl"]'], "empty.jsonl: no records found"),
    (["--set", "target.path={root}/torn"], "can't be loaded as a causal language model"),
    (["--set", "target.tokenizer={root}/torn"], "tokenizer .*can't be loaded"),
    (["--set", "target.path={root}/none"], "no such folder"),
    (["--set", "target.device=cuda:7"], "device 'cuda:7' can't be used"),
    (["--set", "drafter.init_from={root}/target"], "not a DFlashDraftModel"),
    (
        ["--set", "loss.weighting=dpace", "--set", "loss.ce=0", "--set", "loss.kl=1"],
        "give ce a share above 0",
    ),
    (["--resume"], "no checkpoint to resume from"),
    (["--set", "train.attention=sdpa", "--set", 'data.train=["{root}/chat.jsonl"]'], "no chat template"),
]


@pytest.mark.parametrize(("changes", "complaint"), MISTAKES, ids=[m[1][:30] for m in MISTAKES])
def test_mistakes_are_one_clear_line(
    changes: list[str], complaint: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.jsonl").write_text('{"text": "x"}\n{oops\n')
    (project / "empty.jsonl").write_text("")
    shutil.copytree(project / "target", project / "torn")
    (project / "torn" / "model.safetensors").write_bytes(bytes(50))
    (project / "torn" / "tokenizer.json").write_text("{}")
    (project / "short.jsonl").write_text('{"text": "abc"}\n' * 3)
    (project / "chat.jsonl").write_text('{"messages": [{"role": "assistant", "content": "x"}]}\n')
    changes = [c.replace("{root}", str(project)) for c in changes]
    code, out, err = call(capsys, "train", project / "run.toml", *changes)
    assert code == 2
    assert out == ""
    (line,) = [x for x in err.splitlines() if x.startswith("dflash train: ")]
    assert re.search(complaint, line)
    assert "Traceback" not in err


def test_an_export_is_trained_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "train", project / "run.toml")[0] == 0
    export = project / "run" / "drafter"
    again = ["--set", f"drafter.init_from={export}", "--set", f"output.directory={project}/more"]
    run = build.training(config.load(project / "run.toml", again[1::2]))
    for name, tensor in load_file(export / "model.safetensors").items():
        assert torch.equal(run.trainer.drafter.state_dict()[name], tensor)
    code, out, _ = call(capsys, "train", project / "run.toml", *again, "--json")
    assert (code, json.loads(out)["verified"]) == (0, True)
    other = ["--set", "drafter.block_size=8", "--set", f"output.directory={project}/third"]
    code, _, err = call(capsys, "train", project / "run.toml", *again, *other)
    assert code == 2
    assert "drafter.block_size 8: the drafter in " in err
    assert "has 4" in err


def test_regenerate_counts_what_it_skips(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = ["--target", project / "target", "--tokenizer", "bytes", "--max-new-tokens", 4, "--json"]
    prompts = project / "mixed.jsonl"
    chat = {"messages": [{"role": "assistant", "content": "no question"}]}
    prompts.write_text('{"prompt": "a"}\noops\n' + json.dumps(chat) + '\n{"prompt": "b"}\n')
    command = ["regenerate", *target, "--prompts", prompts, "--output", project / "some.jsonl"]
    code, _, err = call(capsys, *command)
    assert code == 2
    assert "mixed.jsonl:2: not JSON" in err
    code, out, _ = call(capsys, *command, "--skip-bad")
    assert (code, json.loads(out)["skipped"]) == (0, 2)
    lines = (project / "some.jsonl").read_text().splitlines()
    assert [("response_ids" in json.loads(line)) for line in lines] == [True, False, True]


def test_skip_bad_counts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (project / "train.jsonl").open("a") as file:
        file.write("oops\n\n")
    (project / "own.toml").write_text(TOML.format(root=project).replace("validation = ", "#"))
    code, out, err = call(capsys, "train", project / "own.toml", "--skip-bad", "--json")
    assert code == 0
    assert json.loads(out)["bad_lines"] == 2
    assert "2 bad lines left out" in err


def test_resume_with_a_changed_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "train", project / "run.toml")[0] == 0
    code, _, err = call(capsys, "train", project / "run.toml")
    assert code == 2
    assert "add --resume" in err
    code, _, err = call(capsys, "train", project / "run.toml", "--resume", "--set", "train.lr=2e-3")
    assert code == 2
    assert "the configuration changed since the checkpoint: train.lr" in err
    code, _, err = call(capsys, "train", project / "run.toml", "--resume", "--set", "output.log_every=2")
    assert code == 0, "what doesn't change training may change"


def test_wrong_pair_and_wrong_sampling(
    project: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from models import drafter_for

    from dflash.export import write_drafter

    write_drafter(drafter_for(tiny_target()), tmp_path / "other")
    target = ["--target", project / "target", "--tokenizer", "bytes"]
    code, _, err = call(capsys, "generate", *target, "--drafter", tmp_path / "other", "--prompt", "x")
    assert code == 2
    assert "made for another target: vocab_size 50, the target has 258" in err
    code, _, err = call(capsys, "generate", *target, "--prompt", "x", "--temperature", -1)
    assert code == 2
    assert "must not be negative" in err


def test_example_configurations_are_valid() -> None:
    found = sorted((Path(__file__).parents[2] / "examples" / "dflash").rglob("*.toml"))
    assert found
    for path in found:
        config.load(path)
    with pytest.raises(UserError, match="not TOML"):
        config.load(Path(__file__))


def test_doctor_tries_what_it_reports(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "doctor", "--json")
    values = json.loads(out)
    assert values["torch"] == torch.__version__
    assert (code == 0) == values["ok"]
    assert values["attention sdpa"] == "ok"


@pytest.mark.parametrize("words", [["trainn"], [], ["train"], ["train", "a.toml", "--bogus"]])
def test_a_mistake_in_the_command_line_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dflash")
    assert line.endswith("--help)")


@pytest.mark.parametrize("path", ["./no/such", "/no/such/folder", "a/b/c"])
def test_a_target_that_can_only_be_a_folder_is_not_looked_up_elsewhere(path: str) -> None:
    from dflash.data.tokenizer import HuggingFaceTokenizer
    from dflash.target.huggingface import read_model

    with pytest.raises(UserError, match=f"^target {path}: no such folder$"):
        read_model(path, "float32")
    with pytest.raises(UserError, match=f"^tokenizer {path}: no such folder$"):
        HuggingFaceTokenizer.load(path)


def test_a_misspelt_section_is_named_rather_than_the_one_that_is_missing() -> None:
    with pytest.raises(UserError, match=r"unknown key trian \(did you mean train\?\)"):
        config.check({"trian": {"steps": 1}, "target": {"path": "x"}}, "run.toml")
