"""Every corpus reader against a small file in the published format, worked out by hand."""

import bz2
import gzip
import json
import pickle
import shutil
from pathlib import Path

import pytest
from hydra.utils import instantiate
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from datamodules.corpora.documents import JsonDocuments
from datamodules.corpora.europarl import Europarl
from datamodules.corpora.held_out import DocumentCorpus, split_of
from datamodules.corpora.inference_files import AllNli, MultiNli, Snli
from datamodules.corpora.markdown import Markdown
from datamodules.corpora.multi30k import Multi30k
from datamodules.corpora.plain_text import PlainText
from datamodules.corpora.sick import Sick
from datamodules.corpora.trees import Trees
from datamodules.corpora.wikipedia import Wikipedia
from datamodules.corpus import Corpus, Document, Inference, Section, Split
from datamodules.text.tokenize import split_sentences, tokenize
from datamodules.trees.penn import read_trees
from encoder_lab.errors import InputError
from encoder_lab.settings.declared import parameters
from encoder_lab.storage.text_files import files_below
from tests.datamodules.test_corpora_errors import READERS, read_all

FIXTURES = Path(__file__).parents[1] / "fixtures" / "corpora"
CONFIGS = Path(__file__).parents[2] / "configs" / "corpus"
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
PUBLISHED = [path for path in sorted(CONFIGS.glob("*.yaml")) if path.stem not in ("parallel", "dataset")]


def whole(corpus: DocumentCorpus) -> list[Document]:
    return [unread.read() for unread in corpus.unread_documents()]


def test_tokens_follow_the_moses_conventions() -> None:
    assert tokenize('Don\'t (ever) say "it", he said.') == 'Don \'t ( ever ) say " it " , he said .'
    assert tokenize("L'homme n'est pas là.", "fr") == "L' homme n' est pas là ."


@given(st.text())
def test_tokens_have_single_spaces_between_them(text) -> None:
    tokens = tokenize(text)
    assert tokens == " ".join(tokens.split())


@given(st.text())
def test_splitting_sentences_loses_no_character(text) -> None:
    assert sorted("".join("".join(split_sentences(text)).split())) == sorted("".join(text.split()))


def test_multi30k_pairs_the_same_caption_in_two_languages() -> None:
    corpus = Multi30k(str(FIXTURES / "multi30k"))
    pairs = list(corpus.parallel("train", "fr"))
    assert pairs[1] == ("A man 's hat is red .", "Le chapeau de l' homme est rouge .")
    assert [source for source, _ in corpus.parallel("train", "cs")] == list(corpus.sentences("train"))
    assert len(list(corpus.parallel("dev", "de"))) == 2
    small = Multi30k(str(FIXTURES / "multi30k"), size=3)  # of the training split alone
    assert [len(list(small.parallel(split, "fr"))) for split in ("train", "test")] == [3, 2]


FORMS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
    "BOM": lambda content: b"\xef\xbb\xbf" + content,
    "no last end of a line": lambda content: content.rstrip(b"\n"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", READERS)
def test_a_corpus_is_the_same_in_each_form_of_its_files(name, form, tmp_path) -> None:
    reader, fixture, _ = READERS[name]
    for path in (path for path in (FIXTURES / fixture).rglob("*") if path.is_file()):
        copy = tmp_path / path.relative_to(FIXTURES / fixture)
        copy.parent.mkdir(exist_ok=True)
        copy.with_name(copy.name + form * form.startswith(".")).write_bytes(FORMS[form](path.read_bytes()))
    assert read_all(reader(str(tmp_path)), name) == read_all(reader(str(FIXTURES / fixture)), name)


def test_text_in_a_folder_that_is_a_link_is_read_and_a_loop_is_named(tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.txt").write_text("b\n")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("a\n")
    (tmp_path / "text" / "link").symlink_to(tmp_path / "elsewhere")
    assert [file.name for file in files_below(tmp_path / "text", [".txt"])] == ["a.txt", "b.txt"]
    (tmp_path / "elsewhere" / "loop").symlink_to(tmp_path / "text")
    with pytest.raises(InputError, match="loop: a link to a folder that it is in; remove it"):
        files_below(tmp_path / "text", [".txt"])


def test_europarl_holds_out_a_twentieth_twice_and_loses_no_line() -> None:
    corpus = Europarl(str(FIXTURES / "europarl"))
    parts = {split: list(corpus.parallel(split, "fr")) for split in SPLITS}
    assert {split: len(pairs) for split, pairs in parts.items()} == {"train": 36, "dev": 2, "test": 2}
    assert len({pair for pairs in parts.values() for pair in pairs}) == 40
    numbers = [(source.split()[-2], target.split()[-2]) for source, target in parts["train"]]
    assert all(source == target for source, target in numbers)
    first, same, other = (list(Europarl(str(FIXTURES / "europarl"), seed=s).sentences("dev")) for s in (1, 1, 2))
    assert first == same != other


def test_snli_reads_the_same_from_json_and_from_text_without_undecided_pairs(caplog) -> None:
    pairs = list(Snli(str(FIXTURES / "snli_1.0")).inference("train"))
    assert pairs == list(Snli(str(FIXTURES / "snli_txt")).inference("train"))
    assert pairs[2] == Inference("A cook waits .", "Nobody waits .", "contradiction")
    assert len(pairs) == 3
    assert "1 pairs without a gold label" in caplog.text


def test_multinli_is_tested_on_the_mismatched_genres() -> None:
    corpus = MultiNli(str(FIXTURES / "multinli_1.0"))
    assert next(corpus.inference("dev")).premise == "We took the train , didn 't we ?"
    assert [pair.label for pair in corpus.inference("test")] == ["contradiction"]


def test_allnli_trains_on_both_and_is_validated_on_snli(tmp_path) -> None:
    for name in ("snli_1.0", "multinli_1.0"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    corpus = AllNli(str(tmp_path))
    assert len(list(corpus.inference("train"))) == 5
    assert list(corpus.inference("dev")) == list(Snli(str(FIXTURES / "snli_1.0")).inference("dev"))
    assert len(list(AllNli(str(tmp_path), size=4).inference("train"))) == 4


@pytest.mark.parametrize("split", SPLITS)
def test_sick_reads_the_same_from_three_files_and_from_one(split) -> None:
    pairs = list(Sick(str(FIXTURES / "sick")).inference(split))
    assert pairs == list(Sick(str(FIXTURES / "sick_whole")).inference(split))
    assert {"train": 3, "dev": 1, "test": 2}[split] == len(pairs)


def test_blank_lines_separate_documents_of_plain_text() -> None:
    documents = whole(PlainText(str(FIXTURES / "text")))
    assert [document.id for document in documents] == ["books.txt:1", "books.txt:4", "books.txt:8"]
    assert documents[1].sections[0].paragraphs == [["The ship left at noon .", "Its captain didn 't look back ."]]
    assert [(s.level, s.title) for s in documents[1].sections] == [(None, None)]


def test_a_text_without_blank_lines_is_cut_into_documents(tmp_path) -> None:
    (tmp_path / "one.txt").write_text("a b .\n" * 2560)
    lengths = [len(document.sections[0].paragraphs[0]) for document in whole(PlainText(str(tmp_path)))]
    assert lengths == [100] * 25 + [60]


def test_trees_are_read_without_traces_and_keep_the_functions_that_probing_tasks_ask_for() -> None:
    corpus = Trees(str(FIXTURES / "trees"))
    split = split_of(str(next(read_trees(FIXTURES / "trees" / "wsj_like.mrg"))))
    assert list(corpus.trees(split)) == [
        "(ROOT (S (NP-SBJ (DT The) (NN harbour)) (VP (VBD was) (VP (VBN closed) (PP-TMP (IN in) (NP (NNP March)))))"
        " (. .)))",
        "(ROOT (S (NP-SBJ (PRP It)) (VP (VBD reopened) (ADVP-TMP (RB later))) (. .)))",
    ]
    assert list(corpus.sentences(split)) == ["The harbour was closed in March .", "It reopened later ."]


def test_a_dump_gives_the_text_of_its_articles_in_sections() -> None:
    lighthouse, rain = whole(Wikipedia(str(FIXTURES / "wikipedia")))
    lead = [["A lighthouse is a tower with a lamp .", "Ships see it from afar ."], ["It is built by the sea ."]]
    keepers = [["A keeper lit the lamp ."], ["A keeper cleaned it ."], ["After 1950 , few were left ."]]
    sections = [Section(0, None, lead), Section(1, "History", [["The first ones burned wood ."]])]
    sections += [Section(2, "Keepers", keepers), Section(1, "Uses", [])]
    assert lighthouse == Document("12", "Lighthouse", sections)
    assert rain == Document("15", "Rain", [Section(0, None, [["Rain falls .", "It is wet ."]])])


def test_a_dump_says_how_its_language_calls_pictures_and_categories(tmp_path) -> None:
    names = '<namespaces><namespace key="6">Datei</namespace><namespace key="14">Kategorie</namespace></namespaces>'
    text = (FIXTURES / "wikipedia" / "pages.xml").read_text().replace("</siteinfo>", f"{names}</siteinfo>")
    text = text.replace("It is wet.", "It is wet. [[Datei:A|thumb|b]] [[kategorie:Rain]]")
    (tmp_path / "pages.xml").write_text(text)
    assert whole(Wikipedia(str(tmp_path))) == whole(Wikipedia(str(FIXTURES / "wikipedia")))


@pytest.mark.parametrize(("fence", "end"), [("---", "---"), ("---", "..."), ("+++", "+++"), ("+++ ", "+++")])
def test_metadata_at_the_top_of_a_file_is_no_text(fence, end, tmp_path) -> None:
    (tmp_path / "a.md").write_text(f'{fence}\ntitle = "a"\n{end}\nRead this.\n\n---\n')
    assert whole(Markdown(str(tmp_path)))[0].sections == [Section(0, None, [["Read this ."]])]


def test_text_between_two_rules_is_no_metadata(tmp_path) -> None:
    (tmp_path / "a.md").write_text("---\n\nRead this.\n\n---\n\nAnd this.\n")
    assert whole(Markdown(str(tmp_path)))[0].sections == [Section(0, None, [["Read this ."], ["And this ."]])]


def test_an_empty_file_in_a_folder_is_no_document(tmp_path) -> None:
    folder = shutil.copytree(FIXTURES / "markdown", tmp_path / "markdown")
    (folder / "empty.md").touch()
    assert whole(Markdown(str(folder))) == whole(Markdown(str(FIXTURES / "markdown")))


def test_markdown_gives_text_in_sections() -> None:
    guide, notes = whole(Markdown(str(FIXTURES / "markdown")))
    assert guide.title == "A guide"
    assert guide.sections == [
        Section(0, None, [["Read this first .", "It is short ."]]),
        Section(1, "A guide", []),
        Section(2, "Setting up", [["Install the tool .", "Then start it ."], ["One thing ."], ["Another thing ."]]),
        Section(3, "Details", [["a cell"], ["b cell"], ["c"], ["d"]]),
        Section(2, "Again", [["The end ."]]),
    ]
    assert (notes.id, notes.title, notes.sections[0].level) == ("more/notes.md", "notes", 0)


def test_a_json_document_may_have_sentences_without_sections(tmp_path) -> None:
    story = {"id": "a", "split": "train", "sentences": ["It rained .", "We slept .", "Then it snowed ."]}
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, (story, {**story, "paragraphs": [1, 2]}))))
    whole, cut = (list(d.read().sections) for d in JsonDocuments(str(path), tokenized=True).unread_documents())
    assert whole == [Section(None, None, [story["sentences"]])]
    assert cut == [Section(None, None, [story["sentences"][:1], story["sentences"][1:]])]


def test_json_documents_keep_levels_titles_and_published_splits() -> None:
    corpus = JsonDocuments(str(FIXTURES / "documents"))
    first, second = corpus.unread_documents()
    assert (first.read().id, first.read().title) == ("leaflet-1", "Your tablets")
    assert first.read().sections == [
        Section(0, None, [["Read this first .", "Keep it ."]]),
        Section(1, "Before you start", []),
        Section(2, "Allergies", [["Don 't wait ."], ["Tell your doctor ."]]),
    ]
    assert second.read().sections == [Section(None, None, [["It depends ."]])]
    assert list(corpus.sentences("dev")) == ["It depends ."]


@pytest.mark.parametrize("make", [Markdown, JsonDocuments, Wikipedia, PlainText])
def test_a_document_can_be_read_by_another_process(make) -> None:
    folder = {Markdown: "markdown", JsonDocuments: "documents", Wikipedia: "wikipedia", PlainText: "text"}[make]
    documents = list(make(str(FIXTURES / folder)).unread_documents())
    assert documents
    assert [pickle.loads(pickle.dumps(doc)).read() for doc in documents] == [doc.read() for doc in documents]


def test_many_pairs_are_tokenised_like_few_pairs(tmp_path) -> None:
    for language in ("en", "fr"):
        lines = [f"L'homme no. {i}, isn't it?" for i in range(1100)]
        (tmp_path / f"train.{language}").write_text("\n".join(lines) + "\n")
    pairs = list(Multi30k(str(tmp_path)).parallel("train", "fr"))
    assert pairs == [(tokenize(line), tokenize(line, "fr")) for line in lines]
    assert list(Multi30k(str(tmp_path)).sentences("train")) == [english for english, _ in pairs]


def test_text_is_streamed(tmp_path) -> None:
    (tmp_path / "a.txt").write_text("First .\n\n" * 40 + "Second .\n")
    with (tmp_path / "b.txt").open("wb") as file:
        file.write(b"\xff\xfe broken \n")
    documents = PlainText(str(tmp_path)).documents("train")
    assert next(documents).sections[0].paragraphs == [["First ."]]  # the broken file behind it is not reached yet
    with pytest.raises(InputError, match=r"b\.txt:1"):
        list(documents)


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_corpus_config_has_a_description_and_builds(path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    roots = {"snli": "snli_1.0", "multinli": "multinli_1.0", "allnli": "."}
    config = OmegaConf.load(path)
    assert set(parameters(config._target_) or ()) <= set(config)  # what is not there cannot be given
    if path.stem != "demo":
        assert "root" in config
        assert "size" in config
        config.root = str(FIXTURES / roots.get(path.stem, path.stem))
    corpus = instantiate(config)
    assert isinstance(corpus, Corpus)
    assert corpus.fingerprint()
    assert type(corpus).tokenize("Rain, again.") in ("Rain , again .", "Rain, again.")
