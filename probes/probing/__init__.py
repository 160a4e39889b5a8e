"""The probing tasks (Conneau et al. 2018)."""

from collections.abc import Mapping
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import unknown_name_message
from encoder_lab.settings.run import names_of
from encoder_lab.settings.run_settings import CLASS_KEY
from probes.facts import Facts

FILES = {
    "SentLen": "sentence_length.txt", "WC": "word_content.txt", "TreeDepth": "tree_depth.txt",
    "TopConst": "top_constituents.txt", "BShift": "bigram_shift.txt", "Tense": "past_present.txt",
    "SubjNum": "subj_number.txt", "ObjNum": "obj_number.txt", "SOMO": "odd_man_out.txt",
    "CoordInv": "coordination_inversion.txt",
}  # fmt: skip
TOOLKIT_NAMES = {  # the toolkit's names of its tasks
    "Length": "SentLen", "WordContent": "WC", "Depth": "TreeDepth", "TopConstituents": "TopConst",
    "BigramShift": "BShift", "SubjNumber": "SubjNum", "ObjNumber": "ObjNum", "OddManOut": "SOMO",
    "CoordinationInversion": "CoordInv",
}  # fmt: skip
MORE_NAMES = ("Passive", "SentType", "FarSwap", "WordOrder", "TopDeps", "SubjGender", "SubjPerson", "ObjCase", "Mood")
OWN_NAMES = ("FromFiles", "NoTasks")  # sources without tasks of these names
FACTS = Facts(
    axis="probing accuracy on test (%)",
    published={"mlp": "conneau2018_table2", "logreg": "conneau2018_table4"},
    controls=True,
    one_reader=frozenset({"WC"}),  # appendix: too many classes for the MLP
)
RATED_ODD = "rated modified"  # a second measure of SOMO, in details.csv


def refuse_unknown_tasks(probes: Mapping[str, Any]) -> None:
    """Raises InputError, before slow imports, for a name in `probes.tasks=` that no source of ours has."""
    package, _, source = probes["source"][CLASS_KEY].rpartition(".")
    known = [*FILES, *MORE_NAMES, *(probes.get("own") or ())]
    for name in names_of(probes["tasks"]) if package == "probes.probing.data" and source not in OWN_NAMES else ():
        if name not in (*known, *TOOLKIT_NAMES, "all"):
            raise InputError(f"probes.tasks={name}: {unknown_name_message('task', name, known)}")
