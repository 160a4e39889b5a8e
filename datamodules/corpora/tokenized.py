"""Corpora of raw or already tokenised text."""

from typing import Annotated

from datamodules.corpora.held_out import DocumentCorpus
from datamodules.text.languages import check_language
from datamodules.text.tokenize import tokenize
from encoder_lab.settings.types import CorpusSize, PartHeldOutOrNull, ProbeSplit, SourceLanguage, Tokenized


class PerhapsTokenized(DocumentCorpus):
    """`tokenized`: the text is already tokenised, with spaces between tokens."""

    def __init__(
        self,
        root: Annotated[str | None, "a file, or a folder of .jsonl, .jsonl.gz, .jsonl.bz2"],
        size: CorpusSize = None,
        tokenized: Tokenized = False,
        source_language: SourceLanguage = "en",
        held_out: PartHeldOutOrNull = None,
        probe_split: ProbeSplit = True,
    ) -> None:
        super().__init__(root, size, held_out, probe_split)
        check_language(source_language, "corpus.source_language")
        self.tokenized, self.source_language = tokenized, source_language

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} tokenized {self.tokenized}"

    def tokens(self, text: str) -> str:
        """The text with single spaces between its tokens."""
        return " ".join(text.split()) if self.tokenized else tokenize(text, self.source_language)
