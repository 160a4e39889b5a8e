"""What a run reads, by content: written to its folder when it begins, and compared when the text is used again."""

import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from encoder_lab.errors import InputError
from encoder_lab.storage.code import own_code_of
from encoder_lab.storage.content import content_of
from encoder_lab.storage.files import atomic_write, path_inside, refuse_special
from encoder_lab.storage.text_files import parse_json

READS_FILE = "reads.json"  # in the folder of a run
CORPUS_KEY = "corpus"  # its files and settings; the text that was made of them is compared by itself
VECTORS_KEY = "embeddings.path"  # read once, when the run begins
CODE_PREFIX = "code of "  # of a class, which may be fixed while the run is stopped
Reads = Mapping[str, str]  # the name of each part with a hash of its content


def write_reads(run: Path, reads: Reads) -> None:
    """Write what a run reads, where it is not written yet."""
    if not (run / READS_FILE).exists():
        with atomic_write(run / READS_FILE) as file:
            json.dump(reads, file, indent=1)


def read_reads(run: Path) -> Reads:
    """What a run has read; empty for a folder without this file. Raises InputError where the file is damaged."""
    path = run / READS_FILE
    refuse_special(path)
    try:
        reads = parse_json(path.read_text(encoding="utf-8")) if path.exists() else {}
        if not isinstance(reads, dict) or not all(isinstance(digest, str) for digest in reads.values()):
            raise ValueError("not names with hashes")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged ({error}); copy the whole run folder again") from None
    return reads


def refuse_changed_files(run: Path, folder: str) -> None:
    """Raises InputError where a file in this folder of a run is not as the run wrote it."""
    recorded = {name: digest for name, digest in read_reads(run).items() if name.startswith(f"{folder}/")}
    for path, digest in ((path_inside(run, name), digest) for name, digest in recorded.items()):
        if not path.is_file() or content_of(path) != digest:
            raise InputError(f"{path}: not as the run wrote it; copy the whole run folder")


def own_code(classes: Iterable[type]) -> Reads:
    """A hash of the code of each class."""
    return {f"{CODE_PREFIX}{each.__module__}.{each.__qualname__}": own_code_of(each) for each in classes}


def warn_of_changed_code(run: Path, classes: Iterable[type]) -> None:
    """Warn where classes have other code than when the run began."""
    codes = own_code(classes)
    recorded = read_reads(run) if codes else {}
    if names := [name for name, code in codes.items() if recorded.get(name, code) != code]:
        result = "what it gives may not be what was trained; put the code back, or train again"
        warnings.warn(f"{run}: the {', '.join(names)} has changed since the run began: {result}", stacklevel=2)


def refuse_other_reads(run: Path, reads: Reads) -> None:
    """Raises InputError if a continued run would read other content than when it began; places may differ."""
    recorded = read_reads(run)
    # the files of vectors need not be there any more
    ignored = {CORPUS_KEY} if VECTORS_KEY in reads else {CORPUS_KEY, VECTORS_KEY}
    # files of the decoder that are gone are written again, from text that is compared by itself
    ignored |= {name for name in recorded if name.startswith("decoder/") and name not in reads}
    ignored |= {name for name in recorded if name.startswith(CODE_PREFIX)}
    differs = [name for name in {**recorded, **reads} if name not in ignored and recorded.get(name) != reads.get(name)]
    if not recorded and any((run / "checkpoints").glob("*.ckpt")):
        raise InputError(f"{run / READS_FILE}: missing: it says what the run has read; copy the whole run folder")
    if recorded and differs:
        rest = f" and {len(differs) - 3} more" if len(differs) > 3 else ""
        changed = f"{', '.join(differs[:3])}{rest}"
        remedy = "put the same data back, or give its new place (as corpus.root=, embeddings.path=), or begin a new run"
        raise InputError(f"{run}: not what the run has read until now: {changed} changed; {remedy}")


def refuse_changed_corpus(run: Path, run_settings: object, settings: object, content: str) -> None:
    """Raises InputError where a corpus of the same settings as a run's has another content than it had."""
    recorded = read_reads(run).get(CORPUS_KEY)
    if run_settings == settings and recorded not in (None, content):
        remedy = "put the text of the run back, or give the new text a place of its own (corpus.root=)"
        raise InputError(f"{run}: its corpus has changed since the run began; {remedy}")
