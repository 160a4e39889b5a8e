"""Corpora of raw or already tokenised text."""

from datamodules.corpora.held_out import DocumentCorpus
from datamodules.text.languages import check_language
from datamodules.text.tokenize import tokenize


class PerhapsTokenized(DocumentCorpus):
    """`tokenized`: the text is already tokenised, with spaces between tokens."""

    def __init__(
        self, root: str | None, size: int | None = None, tokenized: bool = False, source_language: str = "en"
    ) -> None:
        super().__init__(root, size)
        check_language(source_language, "corpus.source_language")
        self.tokenized, self.source_language = tokenized, source_language

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} tokenized {self.tokenized}"

    def tokens(self, text: str) -> str:
        """The text with single spaces between its tokens."""
        return " ".join(text.split()) if self.tokenized else tokenize(text, self.source_language)
