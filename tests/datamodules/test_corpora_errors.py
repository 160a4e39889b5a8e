"""A malformed corpus gives an error of one line that names file and line, or a correct result."""

import gzip
import re
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest

from datamodules.corpora.documents import JsonDocuments
from datamodules.corpora.europarl import Europarl
from datamodules.corpora.held_out import DocumentCorpus, split_of
from datamodules.corpora.inference_files import MultiNli, Snli
from datamodules.corpora.markdown import Markdown
from datamodules.corpora.multi30k import Multi30k
from datamodules.corpora.parallel import Parallel
from datamodules.corpora.plain_text import PlainText
from datamodules.corpora.sick import Sick
from datamodules.corpora.trees import Trees
from datamodules.corpora.wikipedia import Wikipedia
from datamodules.corpora.wikitext import why_not_parsed
from datamodules.corpus import Corpus, Split
from datamodules.trees.parse import COMMAND, parse_file
from datamodules.trees.penn import read_trees
from encoder_lab.errors import InputError
from encoder_lab.storage.text_files import read_lines

FIXTURES = Path(__file__).parents[1] / "fixtures" / "corpora"

Case = tuple[type[Corpus], str, str]
Texts = tuple[str | None, ...]
READERS: dict[str, Case] = {
    "multi30k": (Multi30k, "multi30k", "train.fr"),
    "europarl": (Europarl, "europarl", "europarl-v7.fr-en.en"),
    "snli jsonl": (Snli, "snli_1.0", "snli_1.0_train.jsonl"),
    "snli txt": (Snli, "snli_txt", "snli_1.0_train.txt"),
    "multinli": (MultiNli, "multinli_1.0", "multinli_1.0_dev_mismatched.txt"),
    "sick": (Sick, "sick", "SICK_train.txt"),
    "sick whole": (Sick, "sick_whole", "SICK.txt"),
    "text": (PlainText, "text", "books.txt"),
    "trees": (Trees, "trees", "wsj_like.mrg"),
    "wikipedia": (Wikipedia, "wikipedia", "pages.xml"),
    "markdown": (Markdown, "markdown", "guide.md"),
    "documents": (JsonDocuments, "documents", "leaflets.jsonl"),
}
PAIRED = ("snli jsonl", "snli txt", "multinli", "sick", "sick whole")


def read_all(corpus: Corpus, name: str) -> list[str]:
    """Every text that the corpus gives; each must be clean."""
    texts = [text for example in examples(corpus, name, ("train", "dev", "test")) for text in example if text]
    for text in texts:
        assert (text, text.encode("utf-8").decode("utf-8")) == (" ".join(text.split()), text)
    return texts


def examples(corpus: Corpus, name: str, splits: Iterable[Split]) -> Iterator[Texts]:
    """The texts of each example that a corpus gives."""
    for split in splits:
        if name in PAIRED:
            yield from ((pair.premise, pair.hypothesis) for pair in corpus.inference(split))
        elif name in ("multi30k", "europarl"):
            yield from corpus.parallel(split, "fr")
    if isinstance(corpus, Trees):
        yield from ((" ".join(tree.words()),) for file in corpus.files() for tree in read_trees(file))
    elif isinstance(corpus, DocumentCorpus):
        for document in (unread.read() for unread in corpus.unread_documents()):
            sentences = [s for section in document.sections for paragraph in section.paragraphs for s in paragraph]
            titles = (document.title, *(section.title for section in document.sections))
            by_sentence = isinstance(corpus, PlainText | JsonDocuments)
            yield from [(s,) for s in sentences] if by_sentence else [(*titles, *sentences)]


def with_bytes(folder: Path, case: Case, content: bytes) -> Corpus:
    """The corpus with other bytes in the file of the case."""
    reader, fixture, name = case
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FIXTURES / fixture, folder)
    (folder / name).write_bytes(content)
    return reader(str(folder))  # type: ignore[call-arg]


@pytest.mark.parametrize("name", READERS)
def test_a_missing_folder_says_how_to_get_the_corpus_and_an_empty_one_what_is_missing(name, tmp_path) -> None:
    reader = READERS[name][0]
    for root, fault in ((None, r"corpus\.root= is missing"), (str(tmp_path / "nowhere"), r"corpus\.root=.*nowhere")):
        with pytest.raises(InputError, match=f"{fault}.*; {re.escape(reader.remedy)}"):
            reader(root)
    with pytest.raises(InputError, match=str(tmp_path)):
        read_all(reader(str(tmp_path)), name)


def test_parallel_files_of_different_length_are_both_named(tmp_path) -> None:
    for extra, message in (("Un.\nDeux.\n", "4 lines but .*train.fr has 6"), (None, "4 lines but .*train.fr has 3")):
        text = (FIXTURES / "multi30k" / "train.fr").read_text()
        changed = text + extra if extra else "".join(text.splitlines(keepends=True)[:3])
        corpus = with_bytes(tmp_path / "c", READERS["multi30k"], changed.encode())
        with pytest.raises(InputError, match=message):
            list(corpus.parallel("train", "fr"))
    first, _, *others = text.splitlines()  # an empty line stays on both sides
    corpus = with_bytes(tmp_path / "c", READERS["multi30k"], "\n".join([first, "", *others]).encode())
    assert [target for _, target in corpus.parallel("train", "fr")][1] == ""
    assert len(list(corpus.parallel("train", "fr"))) == 4


def test_a_corpus_without_a_fingerprint_is_told_to_define_it() -> None:
    with pytest.raises(InputError, match="corpus corpus has no fingerprint: define this method"):
        Corpus().fingerprint()


@pytest.mark.parametrize("corpus", [Multi30k, Europarl])
def test_a_missing_language_lists_the_available_ones(corpus) -> None:
    with pytest.raises(InputError, match="fr, de"):
        next(iter(corpus(str(FIXTURES)).parallel("train", "sv")))  # type: ignore[call-arg]


@pytest.mark.parametrize(("reader", "folder"), [(Multi30k, "multi30k"), (Sick, "sick"), (Snli, "snli_1.0")])
def test_a_corpus_with_published_splits_has_no_probe_split(reader, folder) -> None:
    corpus = reader(str(FIXTURES / folder))  # type: ignore[call-arg]
    view = corpus.sentences if reader is Multi30k else corpus.inference
    with pytest.raises(InputError, match="no probe split"):
        next(iter(view("probe")))


@pytest.mark.parametrize("name", ["a.jsonl", "a.tsv", "a.csv.gz"])
def test_a_file_of_columns_is_no_plain_text(name, tmp_path) -> None:
    (tmp_path / name).write_text('{"text": "a"}\n')
    file = str(tmp_path / name)
    for reader in (partial(Parallel, target=file, target_language="fr"), lambda root: PlainText(root).files()):
        with pytest.raises(InputError, match=r"has columns; write .* ends in \.txt"):
            reader(file)


def test_too_few_documents_for_a_held_out_split_are_refused(tmp_path) -> None:
    (tmp_path / "a.txt").write_text("One sentence .\n")
    absent = "dev" if split_of("a.txt:1") != "dev" else "probe"
    with pytest.raises(InputError, match="none of its 1 documents"):
        list(PlainText(str(tmp_path)).documents(absent))  # type: ignore[arg-type]
    (tmp_path / "a.txt").write_text("\n \n")
    with pytest.raises(InputError, match="no text in it"):
        list(PlainText(str(tmp_path)).documents("train"))


def test_documents_that_all_say_their_split_are_not_told_to_hold_out_more(tmp_path) -> None:
    document = '{"id": "a", "split": "train", "sentences": ["One sentence ."]}\n'
    (tmp_path / "a.jsonl").write_text(document)
    with pytest.raises(InputError, match=r'as their key split says; .*"split": "dev"$'):
        list(JsonDocuments(str(tmp_path)).documents("dev"))


def test_trees_in_files_of_published_splits_are_not_told_to_hold_out_more(tmp_path) -> None:
    (tmp_path / "train.mrg").write_text("(S (NP (DT The) (NN dog)) (VP (VBZ runs)))\n")
    with pytest.raises(InputError, match="as the names of its files say; give the dev file too"):
        list(Trees(str(tmp_path)).trees("dev"))


def test_a_skipped_article_is_named(tmp_path, caplog) -> None:
    text = (FIXTURES / "wikipedia" / "pages.xml").read_text().replace("Rain falls.", "{{a|" * 50)
    assert "Rain" not in read_all(with_bytes(tmp_path / "c", READERS["wikipedia"], text.encode()), "wikipedia")
    assert "'Rain' left out" in caplog.text


@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("sick", "NEUTRAL", "PERHAPS", r"SICK_train\.txt:4: label 'PERHAPS'"),
    ("sick", "sentence_B", "sentence_C", r"SICK_train\.txt:1: no column sentence_B"),
    ("sick whole", "FLICKR\tTRIAL", "FLICKR\tTRAIL", r"SICK\.txt:5: set 'TRAIL', expected one of TRAIN, TRIAL, TEST"),
    ("sick whole", "relatedness_score\t", "", r"SICK\.txt:2: 12 columns, expected 11"),
    ("wikipedia", "<ns>0</ns>", "<ns>O</ns>", r"pages\.xml:\d+: the namespace .* is 'O'"),
])  # fmt: skip
def test_a_wrong_row_is_named_with_its_line(name, old, new, message, tmp_path) -> None:
    text = (FIXTURES / READERS[name][1] / READERS[name][2]).read_text()
    assert old in text
    with pytest.raises(InputError, match=message):
        read_all(with_bytes(tmp_path / "c", READERS[name], text.replace(old, new).encode()), name)


BROKEN_DOCUMENTS = [
    *['{"id": "\\ud800", "sections": []}', "[" * 100_000, "{", "[]", '{"a": NaN', '{"sections": []}', '{"id": "a"}'],
    '{"id": "a", "split": "holdout", "sections": []}',
    '{"id": "a", "sections": ["x"]}',
    '{"id": "a", "sections": [{"level": "1", "paragraphs": []}]}',
    '{"id": "a", "sections": [{"level": 1, "paragraphs": ["A sentence."]}]}',
    '{"id": "a", "title": 3, "sections": []}',
]


@pytest.mark.parametrize("line", BROKEN_DOCUMENTS, ids=range(len(BROKEN_DOCUMENTS)))
def test_a_malformed_document_is_named_with_its_line(line, tmp_path) -> None:
    (tmp_path / "d.jsonl").write_text(f"\n{line}\n")
    with pytest.raises(InputError, match=r"d\.jsonl:2: "):
        read_all(JsonDocuments(str(tmp_path)), "documents")


def test_a_gzip_file_that_is_cut_off_is_named(tmp_path) -> None:
    packed = gzip.compress(b"".join(b"line %d\n" % i for i in range(10_000)))
    (tmp_path / "a.txt.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=r"a\.txt\.gz:\d+: .*damaged"):
        list(read_lines(tmp_path / "a.txt.gz"))


def test_a_dump_with_an_entity_bomb_is_refused(tmp_path) -> None:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    page = "<page><title>a</title><id>1</id><revision><text>&e11;</text></revision></page>"
    (tmp_path / "a.xml").write_text(f'<!DOCTYPE m [<!ENTITY e0 "lol">{levels}]>\n<mediawiki>{page}</mediawiki>')
    with pytest.raises(InputError, match=r"a\.xml:\d"):
        read_all(Wikipedia(str(tmp_path)), "wikipedia")


@pytest.mark.parametrize(("file", "limit", "text", "message"), [
    ("a.txt", "encoder_lab.storage.text_files.MAX_LINE_BYTES", "a\n" + "x" * 5000, "2: a line of more than 1000 bytes"),
    ("a.xml", "datamodules.corpora.wikipedia.MAX_PAGE", "<mediawiki><page>" + "text\n" * 999, r"\d+: 1000 bytes with"),
], ids=["line", "page"])  # fmt: skip
def test_a_line_or_page_without_end_does_not_fill_the_memory(file, limit, text, message, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(limit, 1000)
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError, match=f"{file}:{message}"):
        list(read_lines(tmp_path / file) if file == "a.txt" else Wikipedia(str(tmp_path)).unread_documents())


@pytest.mark.parametrize("mark", ["{{a|", "[[a|", "<b>", "[http://a ", "<!--", "\n{|\n", "{{{a|{{"])
def test_an_article_that_would_take_hours_is_skipped(mark) -> None:
    assert why_not_parsed(mark * 5000) is not None
    assert why_not_parsed(f"Plain text with {mark}one of them.") is None


class FakeSentence:
    def __init__(self, text: str) -> None:
        self.constituency = f"(ROOT\n  (NP {' '.join(f'(NN {word})' for word in text.split())}))"


class FakeParser:
    """Stands in for a parser: takes what Stanza takes and gives what it gives."""

    def __call__(self, text: str) -> "FakeParser":
        self.sentences = [FakeSentence(sentence) for sentence in text.split("\n\n")]
        return self


def test_parsing_writes_a_tree_per_sentence_that_is_read_back(tmp_path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.mrg"
    source.write_text("".join(f"sentence {i}\n\n" for i in range(600)))
    assert parse_file(source, target, FakeParser()) == 600
    assert next(Trees(str(target)).sentences("train")).startswith("sentence ")
    assert len(target.read_text().splitlines()) == 600


def test_parsing_without_a_parser_says_how_to_get_it(tmp_path, capsys) -> None:
    (tmp_path / "in.txt").write_text("A dog runs.\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "stanza", None)
        assert COMMAND.run([str(tmp_path / "in.txt"), str(tmp_path / "out.mrg")]) == 2
    assert "pip install stanza" in capsys.readouterr().err
    assert not (tmp_path / "out.mrg").exists()
