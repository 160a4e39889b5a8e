"""Nothing stale: what changes the text of a corpus or the numbers of a model changes the key of what is cached.

Every corpus of configs/, every source of models; each of their files, settings and libraries is changed by itself.
"""

import ast
import inspect
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.utils import get_class
from omegaconf import OmegaConf

from datamodules.corpus import Corpus, Split, corpus_key
from datamodules.demo import Demo
from datamodules.sentences import PlainSentences
from encoder_lab.errors import InputError
from encoder_lab.evaluation.open_models import open_model
from encoder_lab.storage import code
from encoder_lab.storage.content import SETTLED_NANOSECONDS, content_of
from encoder_lab.storage.reads import refuse_changed_corpus, refuse_other_reads, write_reads
from encoders.load import read_config
from probes.classification import Classification
from probes.task import single
from tests.asked import evaluation
from tests.conftest import ROOT
from tests.datamodules.test_own_data import saved
from tests.encoders.small_language_models import gpt2
from tests.test_transformers import BERT, tiny
from tests.tiny_corpus import TinyCorpus

FIXTURES = ROOT / "tests" / "fixtures" / "corpora"
CORPORA = [path.stem for path in sorted((ROOT / "configs" / "corpus").glob("*.yaml"))]
FOLDERS = {"snli": "snli_1.0", "multinli": "multinli_1.0", "parallel": "multi30k"}
SPLITS: tuple[Split, ...] = ("train", "dev", "test", "probe")
OTHERS: dict[type, list[Any]] = {bool: [True, False], int: [2, 3], str: ["fr", "skip", "other"], type(None): ["de"]}
OTHERS[list] = [["tense"], ["other"]]
EDITS = ((b'"a"', b'"b"'), (b"entailment", b"Entailment"), (b"he", b"hi"), (b"a 1", b"a 9"), (b"a ", b"o "))
Settings = dict[str, Any]
TASK = Classification("T", ["a", "b"], *(single(["a b c", "d a"], np.array([0, 1])) for _ in range(3)))


def edited(data: bytes) -> Iterator[bytes]:
    """The content of a file with one letter, digit or bit changed, in several ways."""
    for old, new in EDITS:
        if old in data and b"\0" not in data:
            at = data.rindex(old)
            yield data[:at] + new + data[at + len(old) :]
    yield data[:-1] + bytes([data[-1] ^ 64])


def edits(folder: Path) -> Iterator[Path]:
    """Each file below a folder while it is edited in place, with the size and time of modification that it had."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        before, state = path.read_bytes(), path.stat()
        for data in edited(before):
            path.write_bytes(data)
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
            yield path
        path.write_bytes(before)


def views(corpus: Corpus) -> list[Any]:
    """The text of every view and split, or why there is none."""

    def view(read: Callable[[], Iterator[Any]]) -> Any:
        try:
            return [str(value) for value in islice(read(), 20 if isinstance(corpus, Demo) else 60)]
        except InputError as error:
            return str(error)

    names = ("sentences", "trees", "dependencies", "documents", "inference")
    plain = [view(lambda: getattr(corpus, name)(split)) for name in names for split in SPLITS]  # noqa: B023
    return plain + [view(lambda: corpus.parallel(split, "fr")) for split in SPLITS]  # noqa: B023


def settings_of(name: str, folder: Path) -> Settings:
    """The settings of a corpus with its files in `folder`."""
    settings: Any = OmegaConf.to_container(OmegaConf.load(ROOT / "configs" / "corpus" / f"{name}.yaml"))
    if name == "dataset":
        text = [f"word {i} ." for i in range(40)]
        rows = {"text": text, "target": text[::-1], "premise": text, "hypothesis": text, "label": [0, 1] * 20}
        saved(folder / "train", rows, ["entailment", "neutral", "contradiction"])
        return settings | {"root": str(folder), "target_language": "fr"}
    if name == "allnli":
        for part in ("snli_1.0", "multinli_1.0"):
            shutil.copytree(FIXTURES / part, folder / part)
    elif name != "demo":
        shutil.copytree(FIXTURES / FOLDERS.get(name, name), folder)
    if name == "parallel":
        return settings | {"source": f"{folder}/train.en", "target": f"{folder}/train.fr", "target_language": "fr"}
    if name == "ud":
        (folder.parent / "more.txt").write_text("The cat sat here .\n")
        settings["more"] = [str(folder.parent / "more.txt")]
    return settings | ({"size": 300} if name == "demo" else {"root": str(folder)})


def corpus_of(settings: Settings) -> Corpus:
    """The corpus of some settings; unlike Hydra's `instantiate`, it passes InputError on."""
    return get_class(settings["_target_"])(**{key: value for key, value in settings.items() if key != "_target_"})


def made(settings: Settings) -> tuple[list[Any], list[str]]:
    """What a corpus gives, and its key. Raises InputError."""
    corpus = corpus_of(settings)
    return views(corpus), corpus_key(corpus)


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_has_another_key_where_a_file_or_a_setting_changes_its_text(name, tmp_path) -> None:
    """The text is read where the key is the same, and until an edit has changed it."""
    settings = settings_of(name, tmp_path / "data")
    text, key = made(settings)
    assert made(settings) == (text, key)
    changed = name == "demo"
    for path in edits(tmp_path):
        try:
            corpus = corpus_of(settings)
            other_key = corpus_key(corpus) != key
            other_text = (not changed or not other_key) and views(corpus) != text
        except InputError:
            other_key = other_text = True
        assert other_key or not other_text, path
        changed = changed or other_text
    assert changed
    for setting in settings.keys() - {"_target_", "root", "source", "target", "more"}:
        for other in [2] if setting == "size" else OTHERS[type(settings[setting])]:
            with suppress(InputError):
                corpus = corpus_of(settings | {setting: other})
                assert corpus_key(corpus) != key or views(corpus) == text, f"{setting}={other}"


@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_has_the_same_key_at_another_place(name, tmp_path) -> None:
    settings, moved = (settings_of(name, tmp_path / place / "data") for place in ("a", "b"))
    assert made(moved)[1] == made(settings)[1]


def libraries_of(source: Path) -> set[str]:
    """The modules of others that a file and the files of ours behind it import."""
    modules = set()
    for path in code.imported_files(source):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module.partition(".")[0])
    return modules


@pytest.mark.parametrize("name", CORPORA)
def test_another_version_of_any_library_behind_a_corpus_is_another_key(name, tmp_path, monkeypatch) -> None:
    corpus = corpus_of(settings_of(name, tmp_path / "data"))
    key, (by_module, by_name) = corpus_key(corpus), code._installed_libraries()
    source = inspect.getsourcefile(type(corpus))
    assert source
    libraries = {library for module in libraries_of(Path(source)) for library in by_module.get(module, ())}
    assert {"sacremoses", "regex"} <= libraries | set(by_name["sacremoses"][1])
    for library in {*libraries, "regex"}:
        newer = by_name | {library: ("99", by_name[library][1])}
        monkeypatch.setattr(code, "_installed_libraries", lambda newer=newer: (by_module, newer))
        assert corpus_key(corpus) != key, library


class Opened:
    """The files of a source of models, and how to open it with settings."""

    def __init__(self, name: str, folder: Path) -> None:
        folder.mkdir()
        self.name, self.folder, self.work = name, folder, folder.parent / "work"
        self.settings, self.sentences = list[str](), ["a b c", "d a"]
        if name == "run":
            shutil.copytree(ROOT / "tests" / "golden_run", folder, dirs_exist_ok=True)
            self.model, self.sentences = str(folder), [" ".join((folder / "vectors" / "words.txt").read_text().split())]
        elif name == "hf":
            self.model = f"hf:{tiny(folder, 'Bert', **BERT)}"
        elif name == "lm":
            self.model = f"lm:{gpt2(folder)}"
        elif name == "vectors":
            np.save(folder / "v.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
            (folder / "s.txt").write_text("a b c\nd a\n")
            self.model, self.settings = f"vectors:{folder}/v.npy", [f"sentences={folder}/s.txt"]
        else:
            (folder / "v.vec").write_text("5 3\na 1 2 3\nb 2 0 1\nc 1 1 5\nd 3 3 1\nA 0 1 0\n")
            self.model, self.settings = name, ["embeddings=file", f"embeddings.path={folder}/v.vec"]

    def open(self, *settings: str) -> tuple[str, Callable[[], bytes]]:
        """The fingerprint, and what computes the numbers. Raises InputError."""
        asked = evaluation(f"model={self.model}", *self.settings, *settings)
        (model,) = open_model(self.model, asked, "cpu", self.work)(TinyCorpus(), [TASK])
        fingerprint = model.fingerprint() if callable(model.fingerprint) else model.fingerprint
        assert fingerprint
        if model.encode:
            return fingerprint, lambda: np.asarray(model.encode(self.sentences)).tobytes()
        return fingerprint, lambda: np.asarray(model.logprobs([("", "the cat sat")])[0][2]).tobytes()


# that computes the numbers of a source, or of its new words
CODE = {"hf": "encoders/hugging_face.py", "lm": "encoders/language_model.py"}
CODE |= {"run": "datamodules/word_vectors/fasttext_file.py"}
ENCODERS = ["bov", "untrained/transformer"]
SETTINGS = {name: ["seed=2", "embeddings.lowercase=true", "embeddings.scale=2"] for name in ENCODERS}
SETTINGS |= {"hf": ["layers=0", "pooling=max", "prompt='a '"], "lm": ["bos=false", "eos=true"]}


@pytest.mark.parametrize("name", ["run", "hf", "lm", "vectors", *ENCODERS])
def test_each_change_of_a_model_changes_its_fingerprint(name, tmp_path, monkeypatch) -> None:
    """A file, a setting, a library or code. Numbers are computed where the fingerprint is the same, and until one edit
    has changed them.
    """
    source = Opened(name, tmp_path / "model")
    fingerprint, compute = source.open()
    numbers, changed = compute(), False
    for path in edits(source.folder):
        try:
            other, compute = source.open()
            other_numbers = (not changed or other == fingerprint) and compute() != numbers
        except InputError:
            other, other_numbers = "refused", True
        assert other != fingerprint or not other_numbers, path
        changed = changed or other_numbers
    assert changed
    for setting in SETTINGS.get(name, []):
        other, compute = source.open(setting)
        assert other != fingerprint or compute() == numbers, setting
    if name == "vectors":  # no code of ours computes them
        return
    by_module, by_name = code._installed_libraries()
    newer = by_name | {"torch": ("99", by_name["torch"][1])}
    with monkeypatch.context() as patched:
        patched.setattr(code, "_installed_libraries", lambda: (by_module, newer))
        assert source.open()[0] != fingerprint
    edited = ROOT / CODE.get(name, "encoders/encoder.py")
    monkeypatch.setattr(code, "content_of", lambda path: "edited" if path == edited else content_of(path))
    code.loaded_code.cache_clear()  # as another process would find it
    assert source.open()[0] != fingerprint


def test_the_hash_of_a_large_file_is_computed_once(tmp_path, monkeypatch) -> None:
    from encoder_lab.storage import content

    path = tmp_path / "large"
    path.write_bytes(b"large")
    monkeypatch.setattr(content, "LARGE_FILE_BYTES", 1)
    monkeypatch.setattr(content, "SETTLED_NANOSECONDS", -SETTLED_NANOSECONDS)
    monkeypatch.setattr(content, "_cache_folders", [])
    content.cache_digests_in(tmp_path / "cache")
    first = content_of(path)
    monkeypatch.setattr(content, "_digests", {})
    monkeypatch.setattr(content, "file_digest", lambda *_: pytest.fail("read again"))
    assert content_of(path) == first
    (tmp_path / "moved").hardlink_to(path)  # another time of change
    with pytest.raises(pytest.fail.Exception, match="read again"):
        content_of(path)


@pytest.mark.parametrize(("text", "message"), [
    ("two\nlines", "has a line end in it"), (7, "is int, not a text"), ("a \ud800", "has half of a character"),
])  # fmt: skip
def test_a_text_that_is_not_one_line_is_refused_with_its_number(tmp_path, text, message) -> None:
    class Own(TinyCorpus):
        def sentences(self, split: Split) -> Iterator[str]:
            yield "one line ."
            yield text

    with pytest.raises(InputError, match=rf"tiny sentences: example 2 of the train split {message}"):
        PlainSentences(Own(), tmp_path, seed=1)


def test_a_run_goes_on_with_the_same_text_elsewhere_and_with_no_other_text(lab, tmp_path) -> None:
    text = "\n\n".join(f"the dog no {i} sees a cat .\nthe cat {i % 7} sees it ." for i in range(120))
    (tmp_path / "a.txt").write_text(text)
    run = tmp_path / "run"
    rows = [f"{word} {number} 1\n" for number, word in enumerate(sorted(set(text.split())), 1)]
    (tmp_path / "v.vec").write_text(f"{len(rows)} 2\n{''.join(rows)}")
    small = ["encoder=bov", "embeddings=file", f"embeddings.path={tmp_path}/v.vec", "probes=none", "logger=[]"]
    objective = ["objective=autoencoder", "objective.decoder_embedding=8", "objective.decoder_hidden=12"]
    corpus = [*objective, "corpus=text", f"corpus.root={tmp_path}/a.txt", f"cache={tmp_path}/cache"]
    lab.succeed(*small, *corpus, f"hydra.run.dir={run}", "trainer.max_epochs=1")
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    lab.succeed(f"resume={run}", "trainer.max_epochs=3", f"corpus.root={tmp_path}/b.txt", f"cache={tmp_path}/other")
    assert (read_config(run)["corpus"]["root"], read_config(run)["cache"]) == (f"{tmp_path}/b.txt", f"{tmp_path}/other")
    refusal = lab.refusal(f"resume={run}", "trainer.max_epochs=1")
    assert refusal == "error: trainer.max_epochs=1: the run has had 3; give a larger number"
    refusal = lab.refusal(f"resume={run}", "trainer.max_epochs=3", "+trainer.max_steps=3")
    assert refusal == "error: trainer.max_steps=3: the run has had 15; give a larger number"
    assert lab.refusal(f"resume={run}", "trainer.max_epoch=4").startswith("error: trainer.max_epoch=4: nothing reads")
    (tmp_path / "b.txt").write_text(text.replace("dog", "cat"))
    refusal = lab.refusal(f"resume={run}", "trainer.max_epochs=4")
    assert f"{run}: not what the run has read until now: text " in refusal


def test_a_changed_corpus_at_the_place_of_the_text_of_a_run_is_refused(tmp_path) -> None:
    write_reads(tmp_path, {"corpus": "first"})
    refuse_changed_corpus(tmp_path, {"root": "a"}, {"root": "a"}, "first")
    refuse_changed_corpus(tmp_path, {"root": "a"}, {"root": "b"}, "another")
    with pytest.raises(InputError, match="its corpus has changed since the run began"):
        refuse_changed_corpus(tmp_path, {"root": "a"}, {"root": "a"}, "another")


@pytest.mark.parametrize("change", ["other", "less", "more"])
def test_what_a_run_has_read_must_be_the_same_when_it_goes_on(tmp_path, change) -> None:
    before = {"corpus": "files", "embeddings.path": "vectors", "text train": "a", "probing WC": "b"}
    write_reads(tmp_path, before)
    refuse_other_reads(tmp_path, {"corpus": "moved", "text train": "a", "probing WC": "b"})
    now = {"other": before | {"probing WC": "c"}, "less": {"text train": "a"}, "more": before | {"probing WC 2": "b"}}
    with pytest.raises(InputError, match="not what the run has read until now: probing WC"):
        refuse_other_reads(tmp_path, now[change])
