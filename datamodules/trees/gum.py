"""Write the dependency trees of GUM, which its coreference files have, as CoNLL-U."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import Command
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.text_files import files_below, read_json_lines


def conllu_sentences(folder: Path) -> Iterator[str]:
    """The sentences of all documents in CoNLL-U. Raises InputError naming file and line."""
    texts: dict[str, list[str]] = {}
    for path in files_below(folder, [".docs.jsonl"]):
        for number, record in read_json_lines(path):
            if (name := str(record.get("id"))) in texts:
                raise InputError(f"{path}:{number}: document {name[:40]!r} is also in another file; keep one copy")
            texts[name] = record.get("sentences") or []
    for path in files_below(folder, [".coref.jsonl"]):
        for number, record in read_json_lines(path):
            try:
                yield from list(_document_sentences(record, texts[str(record["id"])]))
            except (KeyError, TypeError, ValueError, AttributeError, IndexError):
                raise InputError(f"{path}:{number}: tokens without sentences of *.docs.jsonl; is this GUM?") from None


def _document_sentences(record: dict[str, Any], texts: list[str]) -> Iterator[str]:
    names = ("lemma", "upos", "xpos", "feats", "head", "deprel")
    rows = list(zip(*(record["tokens"][name] for name in names), strict=True))
    begin = 0
    for number, text in enumerate(texts):
        forms = text.split()
        lines = [f"# sent_id = {record['id']}-{number}"]
        for position, (form, row) in enumerate(zip(forms, rows[begin : begin + len(forms)], strict=True), start=1):
            lemma, upos, xpos, features, head, relation = row
            head_position = head - begin if head else 0
            columns = [str(position), form, lemma, upos, xpos, features or "_", str(head_position), relation, "_", "_"]
            lines.append("\t".join(columns))
        yield "\n".join(lines) + "\n\n"
        begin += len(forms)


def run_gum(options: SimpleNamespace) -> None:
    folder, target = map(Path, options.positional)
    with atomic_write(target) as file:
        written = sum(bool(file.write(text)) for text in conllu_sentences(folder))
    print(f"{written:,} sentences in {target}")


COMMAND = Command(
    "python -m datamodules.trees.gum FOLDER OUT.conllu",
    __doc__,
    work=run_gum,
    meaning="the folder with *.docs.jsonl and *.coref.jsonl, plain or packed; and the file that gets the trees",
    writes=lambda options: options.positional[1],
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
