"""Annotated relations as tables and as pipe files: the PDTB tasks."""

from pathlib import Path

import pytest

from encoder_lab.errors import InputError
from probes.discoeval.build.__main__ import COMMAND
from probes.discoeval.build.pdtb import read_relations
from probes.discoeval.controls import controls
from probes.discoeval.data import read_discoeval
from probes.discoeval.items import SPLITS
from tests.fuzzing import any_damage_is_read_or_refused

HEADER = "doc\ttype\tsense\tsense2\tconn\tconn_toks\targ1_toks\targ2_toks\targ1\targ2\tdir\n"


def tables(folder: Path) -> str:
    """Relations with two frequent senses, a rare one and another type; one has two senses."""
    for split, times in (("train", 12), ("dev", 2), ("test", 2)):
        rows = []
        for i in range(times):
            rows.append(f"d\tExplicit\tContingency.Cause.Reason\t\tso\t\t\t\tit {split} {i} <*> rains\twe {split}\t1<2")
            rows.append(f"d\tExplicit\tComparison.Contrast\t\tbut\t\t\t\tyou {split} {i}\tme {split}\t1<2")
            rows.append(f"d\tImplicit\tExpansion.Conjunction\t\tand\t\t\t\tnow {split} {i}\tthen {split}\t1<2")
            senses = "Temporal.Asynchronous.Precedence\tContingency.Cause"
            rows.append(f"d\tImplicit\t{senses}\tso\t\t\t\tx{split}{i}\t{split}\t1<2")
            rows.append(f"d\tNoRel\tNoRel\t\t\t\t\t\tz {i}\tz\t")
        rows.append(f"d\tExplicit\tExpansion.Exception\t\tbut\t\t\t\tonly {split}\tonce\t1<2")
        (folder / f"{split}.gdtb.tsv").write_text(HEADER + "\n".join(rows) + "\n")
    return ",".join(str(folder / f"{split}.gdtb.tsv") for split in SPLITS)


def test_tables_of_relations_become_both_pdtb_tasks(tmp_path) -> None:
    assert COMMAND.run([f"pdtb={tables(tmp_path)}", f"out={tmp_path / 'out'}"]) == 0
    explicit, implicit = read_discoeval(tmp_path / "out")[0]
    assert explicit.classes == ["Comparison.Contrast", "Contingency.Cause"]
    assert implicit.classes == ["Contingency.Cause", "Expansion.Conjunction", "Temporal.Asynchronous"]
    assert [column[0] for column in explicit.train.texts] == ["it train 0 rains", "we train"]
    assert len(explicit.test.gold) == 4
    assert controls(implicit)["ceiling"] == pytest.approx(100 * 4 / 6)


def pipes(folder: Path, version: int) -> str:
    """The same relations as PDTB 2 or PDTB 3 has them, in sections 2 (train), 15 (dev), 20 (test) and 0 (unused)."""
    raw = "It rained hard. We did not go home."
    for section in ("02", "15", "20", "00"):
        lines = []
        for group, sense in (("Explicit", "Contingency.Cause.Reason"), ("Implicit", "Expansion.List"), ("EntRel", "")):
            fields = [""] * (48 if version == 2 else 34)
            fields[0] = group
            if version == 2:
                fields[1], fields[11], fields[24], fields[34] = section, sense, "It rained hard", "We did not go home"
            else:
                fields[8], fields[14], fields[20] = sense, "0..2;3..14", "16..34"
            lines += ["|".join(fields)] * 10
        (folder / "gold" / section).mkdir(parents=True)
        (folder / "gold" / section / f"wsj_{section}03{'.pipe' if version == 2 else ''}").write_text("\n".join(lines))
        (folder / "raw" / section).mkdir(parents=True)
        (folder / "raw" / section / f"wsj_{section}03").write_text(raw)
    return str(folder / "gold")


@pytest.mark.parametrize("version", [2, 3])
def test_pipe_files_of_both_versions_give_the_same_relations(version, tmp_path) -> None:
    relations = read_relations([Path(pipes(tmp_path, version))], tmp_path / "raw")
    texts = "It rained hard", "We did not go home"
    assert {split: len(rows) for split, rows in relations["Explicit"].items()} == {"train": 10, "dev": 10, "test": 10}
    assert relations["Explicit"]["test"][0] == ("Contingency.Cause", *texts)
    assert relations["Implicit"]["dev"][0] == ("Expansion.List", *texts)
    if version == 3:
        with pytest.raises(InputError, match=r"wsj_0003|wsj_0203: PDTB 3 has places instead of texts"):
            read_relations([tmp_path / "gold"], None)


@pytest.mark.parametrize("version", [0, 2, 3])
def test_any_file_of_relations_is_read_or_its_first_bad_line_named(version, tmp_path) -> None:
    source = Path(tables(tmp_path).split(",")[0] if version == 0 else pipes(tmp_path, version))
    path = source if version == 0 else next(source.rglob("wsj_0203*"))
    any_damage_is_read_or_refused(lambda: read_relations([path], tmp_path / "raw"), path, at_the_end=r"empty$")
