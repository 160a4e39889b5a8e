"""Documents that come raw, or with their tokens between spaces already."""

from datamodules.corpora.held_out import DocumentCorpus
from datamodules.text.tokenize import tokenize


class PerhapsTokenized(DocumentCorpus):
    """`tokenized` says that the text has its tokens between spaces already."""

    def __init__(self, root: str | None, size: int | None = None, tokenized: bool = False) -> None:
        super().__init__(root, size)
        self.tokenized = tokenized

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} tokenized {self.tokenized}"

    def tokens(self, text: str) -> str:
        """The text with single spaces between its tokens."""
        return " ".join(text.split()) if self.tokenized else tokenize(text)
