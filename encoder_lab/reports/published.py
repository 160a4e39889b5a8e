"""The papers' own numbers (probes/published/README.md names the tables)."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.storage.csv_files import read_csv
from probes.facts import facts_of

SCORES = Path(__file__).parents[2] / "probes" / "published" / "scores.csv"
SOURCES = {
    "conneau2018_table2": "Conneau et al. 2018, Table 2",
    "conneau2018_table3": "Conneau et al. 2018, Table 3",
    "conneau2018_table4": "Conneau et al. 2018, Table 4",
    "conneau2018_table5": "Conneau et al. 2018, Table 5",
    "chen2019_table2": "Chen et al. 2019, Table 2",
    "chen2019_readme": "Chen et al. 2019, corrected by the authors",
    "chen2019_table4": "Chen et al. 2019, Table 4",
    "chen2019_table5": "Chen et al. 2019, Table 5",
    "chen2019_table6": "Chen et al. 2019, Table 6",
    "chen2019_figure8": "Chen et al. 2019, Figure 8",
    "beyer2021_tables1to5": "Beyer et al. 2021, Tables 1 to 5",
    "beyer2021_table4": "Beyer et al. 2021, Table 4",
}
NOTES = {
    "chen2019_readme": "chen2019_readme: SSP of InferSent and DisSent (both 62.2) is not to be trusted.",
    "chen2019_table2": "chen2019_table2: SSP was read with a hidden layer and the context of SP was shuffled, both "
    "corrected in chen2019_readme; several averages (InferSent, NSP, ALL) are not the mean of their columns.",
}
TRAINING = "conneau2018_table3"  # the objectives' own scores
PUBLISHED_TEST = {  # sizes of the published test sets; those of probing tasks are 10,000
    "MR": 10_662, "CR": 3_775, "MPQA": 10_606, "SST-2": 1_821, "SST-5": 2_210, "TREC": 500, "MRPC": 1_725,
    "SICK-E": 4_927, "SICK-R": 4_927, "STSB": 1_379,
    "shuffle_narration_all": 1_871, "shuffle_narration_context": 1_871, "shuffle_dialogue_all": 967,
    "shuffle_dialogue_context": 967, "story_cloze": 1_871, "winograd_full": 273, "winograd_partial": 273,
    "remention_wsj": 512, "remention_vpc": 75, "remention_dialogue": 68, "remention_fiction": 98,
    "speaker_commitment": 4_041,
    # of Table 4 only the senses of `as` are known, from the scores that the authors published
    "connectives_as_causal": 25, "connectives_as_comparison": 148, "connectives_as_concession": 3,
    "connectives_as_preposition": 279, "connectives_as_temporal": 21,
    "SP": 12_000, "BSO": 12_000, "DC": 6_418, "SSP": 4_000, "PDTB-E": 3_758, "PDTB-I": 3_024, "RST-DT": 2_308,
}  # fmt: skip


class Published(NamedTuple):
    """One score as printed."""

    table: str  # e.g. conneau2018_table2
    kind: str  # "", "baseline" or "other"
    encoder: str
    model: str
    task: str
    score: float


def fitting(suite: str, classifier: str) -> list[str]:
    """The tables that have the papers' scores of a suite, as read by the classifier, and people's; or none."""
    facts = facts_of(suite)
    table = facts.published.get(classifier, facts.published.get(""))
    return [*([table] if table else []), *facts.reference]


@cache
def published(table: str) -> list[Published]:
    """The scores of one table. Raises InputError with the choices."""
    rows = [row for row in read_csv(SCORES) if row["table"] == table]
    if not rows:
        raise InputError(f"no published table {table!r}; there are {', '.join(SOURCES)}")
    return [Published(r["table"], r["kind"], r["encoder"], r["model"], r["task"], float(r["score"])) for r in rows]
