"""The words of model=: what is no model is refused before slow imports, and untrained encoders are built."""

import os
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import pytest

from encoder_lab.errors import InputError
from encoder_lab.evaluation.open_models import open_model, untrained_encoder
from encoder_lab.settings.arguments import refuse_wrong_arguments
from encoder_lab.settings.model_setting import BASELINES, MODEL_NAMES, UNTRAINED_ENCODERS, refuse_missing_models
from evaluate import CONFIGS
from probes.baselines import BASELINES as BUILT
from probes.coherence.ngram import ORDERS
from tests.asked import evaluation
from tests.packages import ROOT
from tests.tiny_corpus import TinyCorpus


def test_no_two_untrained_encoders_share_cached_scores(tmp_path) -> None:
    (tmp_path / "v.vec").write_text("2 4\na 1 2 3 4\nb 0 1 0 1\n")
    settings = evaluation("embeddings=file", f"embeddings.path={tmp_path / 'v.vec'}")
    names = sorted(path.stem for path in (CONFIGS / "encoder").glob("*.yaml"))
    made = {untrained_encoder(name, settings, "cpu", TinyCorpus(), ["a b"], tmp_path).fingerprint for name in names}
    assert len(made) == len(names)


@pytest.mark.parametrize(("sentences", "message"), [
    (["a b"], "bov: 0 of 2 words (0.0%) have no vector; looked up in lower case, vectors times 0.5\n"),
    (["A c", "B"], "warning: bov: 1 of 3 words (33.3%) have no vector; looked up in lower case, "),
])  # fmt: skip
def test_a_bag_of_vectors_says_how_many_words_have_no_vector(tmp_path, sentences, message, capsys) -> None:
    (tmp_path / "v.vec").write_text("2 2\na 2 2\nb 2 2\n")
    settings = evaluation("embeddings=file", f"embeddings.path={tmp_path / 'v.vec'}")
    untrained_encoder("bov", settings, "cpu", TinyCorpus(), sentences, tmp_path)
    assert capsys.readouterr().err.startswith(message)


def test_an_untrained_encoder_of_the_users_own_is_found_in_the_folder_of_config_dir(tmp_path) -> None:
    (tmp_path / "encoder").mkdir()
    text = "# @package _global_\ndefaults: [bov]\nencoder:\n  pooling: max\n"
    (tmp_path / "encoder" / "mine.yaml").write_text(text)
    refuse_missing_models([f"--config-dir={tmp_path}", "model=untrained/mine"])
    settings = replace(evaluation("embeddings.dim=5"), config_folders=(tmp_path,))
    (model,) = open_model("untrained/mine", settings, "cpu", tmp_path)(TinyCorpus(), [])
    assert model.encoder == "mine"


@pytest.mark.parametrize(("setting", "refused"), [
    *((f"model={path}", True) for path in ("[bov,nonsense]", "no/such/run", "untrained/no")), ("suite=probing", True),
    *((f"model={form}", False) for form in ("bov", "hf:org/name", "vectors:/a/b.npy", "call:a.b:c", "untrained/bov")),
    *(("model=[bov,ngram]", False), (r"model=runs/a\,b", False), ("model='runs/a,b,c'", False)),  # which Hydra reads
    *(("model=['x, y, z',bov]", False), ("model=${a,b,c}", False)),
])  # fmt: skip
def test_a_missing_model_and_no_other_is_refused_before_slow_imports(setting, refused) -> None:
    error = pytest.raises(InputError, match=r": no such (run|choice)|model= is missing")
    with error if refused else nullcontext():
        refuse_missing_models([setting])


@pytest.mark.parametrize(("name", "message"), [
    ("v.npy", r"model=vectors:.*v\.npy sentences=FILE"),
    ("crawl.vec", "embeddings=file embeddings.path="),
    ("glove.txt.gz", "embeddings=file embeddings.path="),
    ("infersent2.pkl", "a pickle, which is not opened"),
    ("bert/config.json", "model=hf:.*bert, or model=lm:"),
    ("sbert/modules.json", "model=hf:.*sbert"),
    ("model.onnx", r"neither a run folder nor a checkpoint \(\.ckpt\) in one; give .*hf:NAME_OR_PATH"),
])  # fmt: skip
def test_a_path_of_another_form_is_answered_with_how_it_is_given(name, message, tmp_path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}")
    path = tmp_path / name.partition("/")[0]
    with pytest.raises(InputError, match=message):
        refuse_missing_models([f"model={path}"])


@pytest.mark.parametrize(("device", "refused"), [("nonsense", True), ("nonsense:1", True), ("cuda:1", False)])
def test_what_is_no_device_is_told_before_slow_imports(device, refused) -> None:
    with pytest.raises(SystemExit) if refused else nullcontext():
        refuse_wrong_arguments("evaluate", ["model=bov", f"device={device}"])


def test_the_words_for_models_are_those_that_build_one() -> None:
    assert set(BASELINES) == set(BUILT)
    assert set(MODEL_NAMES) == {*UNTRAINED_ENCODERS, *BASELINES, *ORDERS}


@pytest.mark.parametrize("program", [["train"], ["evaluate", "model=bov"]])
def test_a_corpus_that_is_not_there_is_refused_without_torch(tmp_path, program) -> None:
    name, *more = program
    corpus = ["corpus=parallel", "corpus.source=absent.en", "corpus.target=absent.fr", "corpus.target_language=fr"]
    code = f"import sys, {name}; sys.modules['torch'] = None; sys.argv = {[name, *more, *corpus]}; "
    command = [sys.executable, "-c", f"{code}{name}.main(sys.argv[1:])"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "error: absent.en: no such file (corpus=parallel)"
    assert done.returncode == 2
    assert not list(tmp_path.glob("runs/*/*/*"))
