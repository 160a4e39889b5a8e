"""The catalogue of corpora: what each is, its publisher, licence and size, and whether it is on this machine."""

from pathlib import Path
from typing import Literal, NamedTuple


class Remote(NamedTuple):
    """A file to fetch; `sha256` is None if it is unknown or the file changes."""

    url: str
    sha256: str | None = None


class Entry(NamedTuple):
    """A corpus. Sizes are those of the publisher or the paper: English side, all splits; None is unknown."""

    name: str
    what: str
    homepage: str
    licence: str
    access: Literal["free", "agreement", "built in"]
    sentences: int | None
    words: int | None
    use: str  # the setting that reads it, with {root}
    needs: tuple[str, ...] = ()  # patterns of required files
    files: tuple[Remote, ...] = ()
    ask: str = ""  # if a licence agreement is needed: whom to ask, and what to copy


def _multi30k(sums: str) -> tuple[Remote, ...]:
    """Lines of a file name and its SHA-256."""
    base = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
    return tuple(Remote(base + name, sha256) for name, sha256 in map(str.split, sums.strip().splitlines()))


def _europarl(language: str, label: str, sentences: int | None, words: int | None) -> Entry:
    return Entry(
        name=f"europarl-{language}",
        what=f"Proceedings of the European Parliament, English and {label} (version 7)",
        homepage="https://www.statmt.org/europarl/",
        licence="no copyright restrictions known to the publisher",
        access="free",
        sentences=sentences,
        words=words,
        use="corpus=europarl corpus.root={root}",
        needs=(f"europarl-v7.{language}-en.en*", f"europarl-v7.{language}-en.{language}*"),
        files=(Remote(f"https://www.statmt.org/europarl/v7/{language}-en.tgz"),),
    )


def _wiki(wiki: str, label: str) -> Entry:
    dump = f"{wiki}-latest-pages-articles.xml.bz2"
    return Entry(
        name=wiki,
        what=f"{label}: articles with nested titled sections (the newest dump)",
        homepage="https://dumps.wikimedia.org/",
        licence="CC BY-SA 4.0 and GFDL",
        access="free",
        sentences=None,
        words=None,
        use="corpus=wikipedia corpus.root={root}",
        needs=(f"{wiki}-*pages-articles*.xml*",),
        files=(Remote(f"https://dumps.wikimedia.org/{wiki}/latest/{dump}"),),
    )


PROBING = (
    "sentence_length",
    "word_content",
    "tree_depth",
    "top_constituents",
    "bigram_shift",
    "past_present",
    "subj_number",
    "obj_number",
    "odd_man_out",
    "coordination_inversion",
)

MULTI30K = """
train.en.gz d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f
train.fr.gz 622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c
train.de.gz 726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6
train.cs.gz a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077
val.en.gz 14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28
val.fr.gz ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9
val.de.gz f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a
val.cs.gz b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc
test_2016_flickr.en.gz 611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9
test_2016_flickr.fr.gz 6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90
test_2016_flickr.de.gz 9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8
test_2016_flickr.cs.gz 200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1
"""

CATALOG: tuple[Entry, ...] = (
    Entry(
        name="demo",
        what="The embedded corpus: a generated world with trees, translations, documents and inference pairs",
        homepage="docs/demo_corpus.md",
        licence="that of this project",
        access="built in",
        sentences=None,
        words=None,
        use="corpus=demo",
    ),
    Entry(
        name="multi30k",
        what="Image captions in English, French, German and Czech (Elliott et al. 2016)",
        homepage="https://github.com/multi30k/dataset",
        licence="none stated; for non-commercial research and education",
        access="free",
        sentences=31_014,
        words=369_064,
        use="corpus=multi30k corpus.root={root}",
        needs=("train.en*", "val.en*", "test_2016_flickr.en*"),
        files=_multi30k(MULTI30K),
    ),
    _europarl("fr", "French", 2_007_723, 50_196_035),
    _europarl("de", "German", 1_920_209, 47_818_827),
    _europarl("fi", "Finnish", None, None),
    Entry(
        name="snli",
        what="570,152 premise-hypothesis pairs on image captions (Bowman et al. 2015)",
        homepage="https://nlp.stanford.edu/projects/snli/",
        licence="CC BY-SA 4.0",
        access="free",
        sentences=1_140_304,
        words=None,
        use="corpus=snli corpus.root={root}",
        needs=("snli_1.0_train.*", "snli_1.0_dev.*", "snli_1.0_test.*"),
        files=(Remote("https://nlp.stanford.edu/projects/snli/snli_1.0.zip"),),
    ),
    Entry(
        name="multinli",
        what="412,702 premise-hypothesis pairs of ten genres (Williams et al. 2018)",
        homepage="https://cims.nyu.edu/~sbowman/multinli/",
        licence="mostly OANC's (free use); fiction under CC BY 3.0, CC BY-SA 3.0 or other permissive terms",
        access="free",
        sentences=825_404,
        words=None,
        use="corpus=multinli corpus.root={root}",
        needs=("multinli_1.0_train.*", "multinli_1.0_dev_matched.*", "multinli_1.0_dev_mismatched.*"),
        files=(Remote("https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip"),),
    ),
    Entry(
        name="sick",
        what="9,840 premise-hypothesis pairs, also rated for relatedness (Marelli et al. 2014)",
        homepage="https://zenodo.org/record/2787612",
        licence="CC BY-NC-SA 3.0",
        access="free",
        sentences=19_680,
        words=None,
        use="corpus=sick corpus.root={root}",
        needs=("SICK*.txt",),
        files=(Remote("https://zenodo.org/record/2787612/files/SICK.zip"),),
    ),
    Entry(
        name="bookcorpus",
        what="11,038 unpublished novels, a sentence per line (Zhu et al. 2015)",
        homepage="https://yknzhu.wixsite.com/mbweb",
        licence="of the authors of the books; terms of the project's page",
        access="agreement",
        sentences=74_004_228,
        words=984_846_357,
        use="corpus=text corpus.root={root} corpus.tokenized=true",
        needs=("*.txt*",),
        ask="its makers no longer give it out; ask them, or take other books, one sentence per line and a blank "
        "line between books, as .txt or .txt.gz",
    ),
    Entry(
        name="penn-treebank",
        what="The Wall Street Journal with gold constituency trees (Marcus et al. 1993)",
        homepage="https://catalog.ldc.upenn.edu/LDC99T42",
        licence="LDC user agreement",
        access="agreement",
        sentences=49_208,
        words=None,
        use="corpus=trees corpus.root={root}",
        needs=("*.mrg*",),
        ask="order LDC99T42 from the Linguistic Data Consortium and copy its combined/wsj/ or parsed/mrg/wsj/",
    ),
    Entry(
        name="treebank-sample",
        what="A twentieth of the Penn Treebank, sections 00 and 01, that NLTK gives out",
        homepage="https://www.nltk.org/nltk_data/",
        licence="LDC's, for non-commercial use and to illustrate NLTK",
        access="free",
        sentences=3_914,
        words=94_084,
        use="corpus=trees corpus.root={root}",
        needs=("*.mrg",),
        files=(Remote("https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/treebank.zip"),),
    ),
    _wiki("simplewiki", "Simple English Wikipedia"),
    _wiki("enwiki", "English Wikipedia"),
    Entry(
        name="senteval-probing",
        what="The ten published probing tasks, about 120,000 sentences each (Conneau et al. 2018)",
        homepage="https://github.com/facebookresearch/SentEval/tree/main/data/probing",
        licence="BSD (SentEval); the sentences are BookCorpus's",
        access="free",
        sentences=1_200_000,
        words=None,
        use="probes=senteval probes.root={root}",
        needs=tuple(f"{task}.txt" for task in PROBING),
        files=tuple(
            Remote(f"https://raw.githubusercontent.com/facebookresearch/SentEval/main/data/probing/{task}.txt")
            for task in PROBING
        ),
    ),
)


def state(entry: Entry, data: Path) -> str:
    """Whether the corpus is in its folder below `data`, and how to use it or get it."""
    folder = data / entry.name
    if entry.access == "built in":
        return f"here: {entry.use}"
    if folder.is_dir():
        missing = [pattern for pattern in entry.needs if not any(folder.rglob(pattern))]
        return f"incomplete: {folder} has no {missing[0]}" if missing else f"here: {entry.use.format(root=folder)}"
    if entry.access == "agreement":
        return f"not here: {entry.ask}, into {folder}"
    begun = "half fetched" if folder.with_name(f"{entry.name}.partial").is_dir() else "not here"
    return f"{begun}: python -m datamodules.download {entry.name}"


def describe(entry: Entry, data: Path) -> str:
    """A few lines about a corpus."""
    sizes = ((entry.sentences, "sentences"), (entry.words, "words"))
    size = ", ".join(f"{count:,} {unit}" for count, unit in sizes if count is not None) or "size not stated"
    rows = (entry.what, f"{entry.homepage}   {size}", f"licence: {entry.licence} ({entry.access})", state(entry, data))
    return "\n".join([entry.name, *(f"    {row}" for row in rows)])
