"""python -m probes.discoeval.build: documents in, published files and a report out."""

import gzip
import json
import random
from itertools import chain
from pathlib import Path

import pytest

from encoder_lab.errors import InputError
from probes.discoeval.build.__main__ import COMMAND, build
from probes.discoeval.build.documents import Part, PlainDocument, read_documents
from probes.discoeval.build.tasks import build_task
from probes.discoeval.controls import controls
from probes.discoeval.data import read_discoeval
from probes.discoeval.items import SPLITS, group_of
from tests.probes.discoeval.test_relations import HEADER

SIZES = {"train": 40, "dev": 10, "test": 10}
SUBJECTS = ["le chat", "la fermière", "un vieux pêcheur", "l' enfant", "cette maîtresse d' école"]
VERBS = ["regarde", "achète", "préfère", "dessine", "oublie", "retrouve"]
OBJECTS = ["une pomme", "le château", "trois œufs", "son frère", "la forêt", "un gâteau"]
DATA = Path(__file__).parents[3].parent / "shared" / "data"


def french_documents(count: int = 60) -> list[dict]:
    """Short French stories in three sections, no sentence twice."""
    draw = random.Random(5)

    def sentence(i: int) -> str:
        words = [*map(draw.choice, (SUBJECTS, VERBS, OBJECTS)), f"n{i}", *["vraiment"] * draw.randrange(3)]
        return f"{' '.join(words).capitalize()} ."

    number = iter(range(10**6))
    return [
        {"id": f"d{i}", "title": None, "sections": [
            {"level": 1, "title": t, "paragraphs": [[sentence(next(number)) for _ in range(7)] for _ in range(2)]}
            for t in ("Début", "Milieu", "Fin")
        ]}
        for i in range(count)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def french(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("french") / "contes.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(d) for d in french_documents()).encode()))
    return path


@pytest.fixture(scope="module")
def built(french, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("built")
    sizes = [f"{split}={size}" for split, size in SIZES.items()]
    assert COMMAND.run([f"documents={french}", f"out={out}", "language=fr", *sizes]) == 0
    return out


@pytest.fixture(scope="module")
def where(french) -> dict[str, tuple[str, int, int]]:
    """Document, section and place of each sentence."""
    documents = read_documents(french, SIZES, "fr")
    return {
        sentence: (text.id, section, place)
        for split in SPLITS
        for text in documents[split]
        for section, part in enumerate(text.parts)
        for place, sentence in enumerate(part.sentences)
    }


def test_documents_in_french_give_four_tasks_of_the_wanted_size(built) -> None:
    tasks, missing = read_discoeval(built)
    assert [task.name for task in tasks] == ["SPcontes", "BSOcontes", "DCcontes", "SSPcontes"]
    assert set(missing) == {"PDTB-E", "PDTB-I", "RST"}
    assert [len(t.train.gold) for t in tasks] == [40, 80, 40, 40]
    assert [len(t.test.gold) for t in tasks] == [10, 20, 10, 10]
    assert "œufs" in " ".join(tasks[0].sentences)


def test_the_label_of_sp_is_the_true_place_of_the_first_sentence(built, where) -> None:
    (task,) = read_discoeval(built, ["SP"])[0]
    for *texts, label in zip(*task.train.texts, task.train.gold, strict=True):
        places = [where[text][2] for text in texts]
        assert len({where[text][:2] for text in texts}) == 1
        assert sorted(places) == list(range(min(places), min(places) + 5))
        assert places[0] - min(places) == label
        assert places[1:] == sorted(places[1:])


def test_bso_pairs_are_neighbours_in_their_true_order(built, where) -> None:
    (task,) = read_discoeval(built, ["BSO"])[0]
    for first, second, label in zip(*task.dev.texts, task.dev.gold, strict=True):
        assert where[second][2] - where[first][2] == (1 if label else -1)


def test_an_incoherent_window_has_one_sentence_of_another_document(built, where) -> None:
    (task,) = read_discoeval(built, ["DC"])[0]
    replaced = []
    for *texts, label in zip(*task.train.texts, task.train.gold, strict=True):
        documents = [where[text][0] for text in texts]
        odd = [i for i, document in enumerate(documents) if documents.count(document) == 1]
        assert len(odd) == (label == 0)
        replaced += odd
    assert sorted(set(replaced)) == [1, 2, 3, 4]
    assert max(replaced.count(place) for place in range(1, 5)) == 5


def test_ssp_tells_the_opening_section_from_the_middle_and_lengths_do_not(built, where) -> None:
    (task,) = read_discoeval(built, ["SSP"])[0]
    lengths: list[list[int]] = [[], []]
    for text, label in zip(*task.train.texts, task.train.gold, strict=True):
        assert where[text][1] == (0 if label else 1)
        lengths[label].append(len(text.split()))
    assert sorted(lengths[0]) == sorted(lengths[1])


def test_an_abstract_is_taken_for_the_opening() -> None:
    def part(title: str) -> Part:
        return Part(title, [f"One {title} sentence {i} ." for i in range(4)])

    texts = [PlainDocument("a", [part("front"), part("Abstract"), part("middle"), part("end")])]
    rows = build_task("SSP", dict.fromkeys(SPLITS, texts), {"train": 8, "dev": 0, "test": 0}, 0)["train"]
    assert {text[0].split()[1] for label, text in rows if label == "1"} == {"Abstract"}
    assert {text[0].split()[1] for label, text in rows if label == "0"} == {"middle"}


def test_the_introduction_and_what_follows_the_conclusion_are_no_middle() -> None:
    """Footnote 3 of Chen et al. 2019."""
    titles = ["Abstract", "1 Introduction", "Contributions", "2 Method", "Details", "3 Conclusions", "Thanks"]
    above = {"Contributions": ("1 Introduction",), "Details": ("2 Method",)}
    parts = [Part(title, [f"In {title} {i} ." for i in range(4)], above.get(title, ())) for title in titles]
    texts = {split: [PlainDocument("a", parts)] for split in SPLITS}
    rows = build_task("SSP", texts, {"train": 40, "dev": 0, "test": 0}, 0)["train"]
    assert {text[0].rsplit(" ", 2)[0] for label, text in rows if label == "0"} == {"In Details"}  # of three words, as
    assert {text[0].rsplit(" ", 2)[0] for label, text in rows if label == "1"} == {"In Abstract"}  # the abstract's


@pytest.mark.parametrize("titles", [("Story", "Abstract", "Introduction"), ("Story", "Introduction")])
def test_sp_takes_the_first_five_sentences_of_the_abstract_or_the_introduction(titles) -> None:
    parts = [Part(title, [f"In {title} {i} ." for i in range(12)]) for title in titles]
    texts = {split: [PlainDocument("a", parts)] for split in SPLITS}
    rows = build_task("SP", texts, {"train": 9, "dev": 0, "test": 0}, 0)["train"]
    assert [sorted(row.texts) for row in rows] == [[f"In {titles[1]} {i} ." for i in range(5)]]


def test_dc_takes_the_document_with_the_largest_share_of_the_same_categories() -> None:
    about = {"a": {"x", "y"}, "b": {"x", "y", "z"}, "c": {"x"}, "d": {"x", "w", "v"}, "e": {"q"}}
    parts = {name: [Part("", [f"Of {name} {i} ." for i in range(6)])] for name in about}
    texts = [PlainDocument(name, parts[name], frozenset(categories)) for name, categories in about.items()]
    rows = build_task("DC", dict.fromkeys(SPLITS, texts), {"train": 10, "dev": 0, "test": 0}, 0)["train"]
    sources = {tuple(text.split()[1] for text in row.texts) for row in rows if row.label == "0"}
    pairs = {max(set(names), key=names.count): min(set(names), key=names.count) for names in sources}
    assert {name: pairs[name] for name in "abcd"} == {"a": "b", "b": "a", "c": "a", "d": "c"}  # 2/3, 2/3, 1/2, 1/3


UBUNTU = {
    "a.annotation.txt": "0 2 -\n1 1 -\n2 3 - \n4 4 -\n",
    "a.tok.txt": "".join(f"<s> <SPLIT> : m{i} </s>\n" for i in range(5)),
}


def test_annotated_chats_give_the_conversations_that_links_connect(tmp_path) -> None:
    for split in SPLITS:
        (tmp_path / split).mkdir()
        for name, text in UBUNTU.items():
            (tmp_path / split / name).write_text(text.replace("SPLIT", split))
    for split, conversations in read_documents(tmp_path, SIZES).items():  # equal links are no copy
        assert [(document.id, document.parts[0].sentences) for document in conversations] == [
            (f"{split}/a/0", [f"<{split}> : m{i}" for i in (0, 2, 3)]),
            (f"{split}/a/1", [f"<{split}> : m1"]),
            (f"{split}/a/4", [f"<{split}> : m4"]),
        ]
    (tmp_path / "dev" / "a.annotation.txt").write_text("0 1 -\n2 5 -\n")
    with pytest.raises(InputError, match=r"dev/a\.annotation\.txt:2: '2 5 -' is no link between two of the 5 messages"):
        read_documents(tmp_path, SIZES)


def test_no_sentence_is_in_two_splits_and_the_report_says_so(built) -> None:
    for task in read_discoeval(built)[0]:
        parts = [set(part.sentences) for part in (task.train, task.dev, task.test)]
        assert len(set.union(*parts)) == sum(map(len, parts))
        assert controls(task)["sentences in two splits"] == 0
    report = (built / "report.md").read_text()
    assert "| SPcontes | 40 | 10 | 10 | 5 |" in report
    assert "| BSOcontes | 50.0 |" in report


def test_the_seed_alone_decides(french, built, tmp_path) -> None:
    sizes = [f"{split}={size}" for split, size in SIZES.items()]
    for seed in (0, 1):
        out = f"out={tmp_path / str(seed)}"
        build(COMMAND.read([f"documents={french}", out, "language=fr", f"seed={seed}", *sizes]))
    files = [path.relative_to(built) for path in built.rglob("*.txt")]
    assert files
    assert all((built / file).read_bytes() == (tmp_path / "0" / file).read_bytes() for file in files)
    assert all((built / file).read_bytes() != (tmp_path / "1" / file).read_bytes() for file in files)


def test_published_splits_are_kept(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    documents = [{**d, "split": ("test", "dev", "train")[i % 3]} for i, d in enumerate(french_documents(9))]
    path.write_text("\n".join(map(json.dumps, documents)))
    assert {text.id for text in read_documents(path, SIZES, "fr")["test"]} == {"d0", "d3", "d6"}
    path.write_text("\n".join(map(json.dumps, [*documents, {**documents[0], "id": "x", "split": None}])))
    with pytest.raises(InputError, match="'x' says no split, unlike those before it"):
        read_documents(path, SIZES, "fr")
    path.write_text(json.dumps(documents[0]))
    with pytest.raises(InputError, match="no document for train, dev; give them too, or leave the key split out"):
        read_documents(path, SIZES, "fr")
    path.write_text(json.dumps({**documents[0], "split": "probe"}))
    with pytest.raises(InputError, match="'d0' is in probe; expected train, dev or test"):
        read_documents(path, SIZES, "fr")


def test_stories_without_sections_give_all_but_ssp(tmp_path, capsys) -> None:
    path = tmp_path / "stories.jsonl"
    first = {d["id"]: list(chain(*d["sections"][0]["paragraphs"])) for d in french_documents(40)}
    stories = [{"id": id, "sentences": sentences, "paragraphs": [7, 7]} for id, sentences in first.items()]
    path.write_text("\n".join(map(json.dumps, stories)))
    arguments = [f"documents={path}", f"out={tmp_path / 'out'}", "train=20", "dev=4", "test=4"]
    assert COMMAND.run(arguments) == 0  # SSP was not asked for by name
    assert capsys.readouterr().err.startswith("SSP was not built: 0 train, 0 dev, 0 test items")
    assert [group_of(task.name) for task in read_discoeval(tmp_path / "out")[0]] == ["SP", "BSO", "DC"]
    (tmp_path / "out" / "SSP" / "stories").mkdir(parents=True)
    assert COMMAND.run(arguments) == 2
    assert "SSP/stories: is of another build, and this one has no such task" in capsys.readouterr().err
    stories[3]["paragraphs"] = [7, 6]
    path.write_text("\n".join(map(json.dumps, stories)))
    assert COMMAND.run(arguments) == 2
    assert "stories.jsonl:4: paragraphs must be numbers of sentences with the sum 14" in capsys.readouterr().err


WRONG = {
    "give documents=, pdtb= or rst=": ["out=x"],
    "no such file or folder (pdtb=)": ["out=x", "pdtb=nowhere.tsv"],
    "raw= has an effect only with pdtb=": ["out=x", "documents=.", "raw=."],
    "domain=two words: name the documents with letters": ["out=x", "documents=.", "domain=two words"],
    "language=zz: ": ["out=x", "documents=.", "language=zz"],
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_arguments_end_in_one_line(message, capsys) -> None:
    assert COMMAND.run(WRONG[message]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_task_that_annotations_ask_for_is_built_or_nothing_is(tmp_path, french, capsys) -> None:
    (tmp_path / "train.gdtb.tsv").write_text(HEADER + "d\tExplicit\tComparison.Contrast\t\tbut\t\t\t\ta\tb\t1<2\n")
    more = [f"documents={french}", "language=fr", *(f"{split}={size}" for split, size in SIZES.items())]
    assert COMMAND.run([*more, f"pdtb={tmp_path / 'train.gdtb.tsv'}", f"out={tmp_path / 'out'}"]) == 2
    assert "error: PDTB-E was not built: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_language_decides_the_tokens(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    story = {"id": "a", "sentences": ["L'enfant regarde l'araignée."] * 3}
    path.write_text("\n".join(json.dumps({**story, "id": i}) for i in "abc"))
    (text,) = read_documents(path, SIZES, "fr")["train"]
    assert text.parts[0].sentences[0] == "L' enfant regarde l' araignée ."


@pytest.mark.skipif(not DATA.exists(), reason="the folder with real data is not there")
def test_gum_gives_all_seven_groups_with_its_official_splits(tmp_path) -> None:
    endings = "gdtb.tsv", "rst.jsonl"
    parts = [",".join(str(DATA / f"gum/{split}.{ending}.gz") for split in SPLITS) for ending in endings]
    few = tmp_path / "train.rst.jsonl"  # each node of a tree has all texts below it: the 177 trees take long
    few.write_bytes(b"".join(gzip.decompress((DATA / "gum/train.rst.jsonl.gz").read_bytes()).splitlines(True)[:50]))
    parts[1] = parts[1].replace(str(DATA / "gum/train.rst.jsonl.gz"), str(few))
    documents = [f"documents={DATA / 'documents/gum.jsonl.gz'}", "tokenized=true", "train=300", "dev=60", "test=60"]
    assert COMMAND.run([*documents, f"pdtb={parts[0]}", f"rst={parts[1]}", f"out={tmp_path / 'out'}"]) == 0
    tasks, missing = read_discoeval(tmp_path / "out")
    assert not missing
    assert [task.name for task in tasks] == ["SPgum", "BSOgum", "DCgum", "SSPgum", "PDTB-E", "PDTB-I", "RST"]
    assert [len(task.test.gold) for task in tasks] == [60, 120, 60, 60, 924, 565, 3488]
