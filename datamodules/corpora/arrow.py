"""Data sets of Hugging Face's `datasets` on disk (`save_to_disk`): text, pairs and premise-hypothesis pairs."""

import json
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Annotated, Any

from datamodules.corpora.held_out import HELD_OUT
from datamodules.corpora.inference_files import tokenize_inference
from datamodules.corpora.on_disk import OnDisk
from datamodules.corpora.parallel import rows_of_split
from datamodules.corpus import LABELS, Inference, Split
from datamodules.rows import column_values, record_batches
from datamodules.text.languages import check_language
from encoder_lab.compute.processes import parallel_map
from encoder_lab.errors import InputError
from encoder_lab.settings.types import CorpusSize, HeldOut, SourceLanguage
from encoder_lab.storage.files import path_inside
from encoder_lab.storage.text_files import log_note, log_note_once

DEV_NAMES = ("dev", "validation", "valid", "val", "validation_matched")
SPLIT_NAMES = {"train": ("train",), "dev": DEV_NAMES, "test": ("test",)}


class SavedDataset(OnDisk):
    """A folder written by `save_to_disk`, of one data set or of one for each split."""

    name = "dataset"
    for_probing = ("dev", "test")
    remedy = "give a folder that dataset.save_to_disk(FOLDER) wrote"

    def __init__(
        self,
        root: Annotated[str | None, "its folder"],
        text: Annotated[str, "names of its columns: sentences; translation.en is the field en of translation"] = "text",
        target: Annotated[str, "translations, for objective=nmt"] = "target",
        premise: Annotated[str, "and hypothesis and label, for objective=nli"] = "premise",
        hypothesis: Annotated[str, "of a premise"] = "hypothesis",
        label: Annotated[str, "one of three, for objective=nli"] = "label",
        source_language: SourceLanguage = "en",
        target_language: Annotated[str | None, "of target, which decides how it is tokenised"] = None,
        held_out: HeldOut = HELD_OUT,
        size: CorpusSize = None,
    ) -> None:
        super().__init__(root, size)
        self.columns = {"text": text, "target": target, "premise": premise, "hypothesis": hypothesis, "label": label}
        check_language(source_language, "corpus.source_language")
        check_language(target_language, "corpus.target_language")
        self.source_language, self.target_language, self.held_out = source_language, target_language, held_out
        self.folders = {split: folder for split in SPLIT_NAMES if (folder := self._find_folder(split))}
        if "train" not in self.folders:
            raise InputError(f"{self.root}: no state.json there, and none in train/; {self.remedy}")
        splits = {path.parent for path in self.root.glob("*/state.json")}
        if unread := sorted(folder.name for folder in splits.difference(self.folders.values())):
            log_note_once(f"{self.root}: splits that are not read: {', '.join(unread)}")
        if len(self.folders) == len(SPLIT_NAMES) and held_out != HELD_OUT:
            raise InputError(f"corpus.held_out={held_out}: {self.root} has a dev and a test split; leave it out")

    def files(self) -> list[Path]:
        return [path for folder in self.folders.values() for path in folder.iterdir() if path.is_file()]

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} {self.columns} {self.target_language} 1/{self.held_out}"

    def sentences(self, split: Split) -> Iterator[str]:
        return self.tokenize_all(row[0] for row in self.limit(split, self._rows(split, "text")))

    def parallel(self, split: Split, target: str) -> Iterator[tuple[str, str]]:
        if target != self.target_language:
            raise InputError(f"corpus.target_language={self.target_language}: translations into it, not {target}")
        return self.tokenize_pairs(self.limit(split, self._rows(split, "text", "target")), target)

    def inference(self, split: Split) -> Iterator[Inference]:
        pairs = self.limit(split, self._labelled_pairs(split))
        return parallel_map(partial(tokenize_inference, language=self.source_language), pairs)

    def _labelled_pairs(self, split: Split) -> Iterator[Inference]:
        names = self._label_names(self.folders.get(split, self.folders["train"]))
        undecided = 0
        for premise, hypothesis, label in self._rows(split, "premise", "hypothesis", "label"):
            name = names[label] if type(label) is int and 0 <= label < len(names) else label
            if name in LABELS:
                yield Inference(premise, hypothesis, name)
            elif name in (-1, "-", None, ""):  # annotators disagreed
                undecided += 1
            else:
                raise InputError(f"{self.root}: label {name!r}, expected {', '.join(LABELS)} (corpus.label=)")
        if undecided:
            log_note(f"{self.root}: {undecided} pairs without a gold label left out")

    def _label_names(self, folder: Path) -> list[str]:
        """The names of the class numbers; in the order of SNLI if the data set has none."""
        info = folder / "dataset_info.json"
        try:
            features = json.loads(info.read_text(encoding="utf-8")).get("features") or {} if info.is_file() else {}
            name = self.columns["label"]
            parts = [name] if name in features else name.split(".", 1)  # as column_values takes it apart
            return list(reduce(lambda feature, part: feature.get(part, {}), parts, features).get("names") or LABELS)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"{info}: damaged ({error}); save the data set again") from None

    def _rows(self, split: Split, *fields: str) -> Iterator[Any]:
        if split != "train" and split in self.folders:
            return self._read_texts(self.folders[split], fields)
        return rows_of_split(self._read_texts(self.folders["train"], fields), split, self.folders, self.held_out)

    def _read_texts(self, folder: Path, fields: Sequence[str]) -> Iterator[Any]:
        """Rows of a folder. Raises InputError naming row and column where a value is no text; labels may be numbers."""
        names = [self.columns[field] for field in fields]
        for index, row in enumerate(_read_columns(folder, names)):
            for field, name, value in zip(fields, names, row, strict=True):
                if field != "label" and not isinstance(value, str):
                    problem = f"row {index} of column {name} is {str(value)[:40]} ({type(value).__name__}), not a text"
                    remedy = "name another column, or leave such rows out with dataset.filter and save it again"
                    raise InputError(f"{folder}: {problem}; {remedy}")
            yield row

    def _find_folder(self, split: str) -> Path | None:
        folders = [self.root / name for name in SPLIT_NAMES[split]] + ([self.root] if split == "train" else [])
        return next((folder for folder in folders if (folder / "state.json").is_file()), None)


def _read_columns(folder: Path, columns: list[str]) -> Iterator[tuple]:
    """The named columns of a saved data set. Raises InputError naming folder and column."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        if state.get("_indices_data_files") or state.get("_indices_files"):  # of releases of 2020 and 2021
            raise InputError(f"{folder}: its rows are chosen by another file; flatten_indices() it and save it again")
        for path in [path_inside(folder, file["filename"]) for file in state["_data_files"]]:
            for _, batch in record_batches(path):
                settings = "corpus.text= and so on"
                yield from zip(*(column_values(folder, batch, name, settings) for name in columns), strict=True)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(f"{folder}: not a data set on disk, or damaged ({error}); save it again") from None
