"""Words and their rows. The only module that uses torchtext: to count them, so that a frozen encoder needs none."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from datamodules.batches import UNKNOWN
from datamodules.text.languages import refuse_unspaced
from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write, refuse_special

SPECIALS = ("<pad>", "<unk>")  # rows 0 and 1


class Vocabulary:
    """Words to rows: 0 is padding, 1 unknown, then words by frequency, ties in alphabetical order."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = [*SPECIALS, *words]
        self._row = {word: row for row, word in enumerate(self.words)}

    @classmethod
    def count(cls, sentences: Iterable[str], place: str = "this text") -> "Vocabulary":
        """The words of whitespace-tokenised sentences. Raises InputError as `refuse_unspaced` does."""
        from torchtext.vocab import Vocab

        counts = Counter(word for sentence in sentences for word in sentence.split())
        for special in SPECIALS:
            del counts[special]
        refuse_unspaced(counts, place)
        counted = Vocab(counts, specials=list(SPECIALS))
        return cls(counted.itos[len(SPECIALS) :])

    def __len__(self) -> int:
        return len(self.words)

    def extend(self, words: Iterable[str]) -> "Vocabulary":
        """A vocabulary with the same rows, and new words after them in order of first appearance."""
        new = (word for word in dict.fromkeys(words) if word not in self._row)
        return Vocabulary([*self.words[len(SPECIALS) :], *new])

    def rows(self, sentence: str) -> list[int]:
        """The row of each word of a whitespace-tokenised sentence."""
        return [self._row.get(word, UNKNOWN) for word in sentence.split()]

    def save(self, path: Path) -> None:
        """One word per line, in the order of the rows, without the two special rows."""
        with atomic_write(path) as file:
            file.writelines(f"{word}\n" for word in self.words[len(SPECIALS) :])

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read what `save` wrote. Raises InputError naming file and line."""
        if not path.exists():
            raise InputError(f"{path}: missing; a run folder keeps its words there, copy the whole folder")
        refuse_special(path)
        *lines, rest = path.read_bytes().split(b"\n")
        first: dict[str, int] = {}
        for line, text in enumerate(lines, start=1):
            try:
                word = text.decode("utf-8")
            except UnicodeDecodeError:
                raise InputError(f"{path}:{line}: not valid UTF-8; the file is damaged, copy it again") from None
            if not word or word in first:
                problem = f"{word!r} again, first on line {first[word]}" if word else "an empty word"
                raise InputError(f"{path}:{line}: {problem}; the file is damaged, copy it again")
            first[word] = line
        if rest:
            raise InputError(f"{path}:{len(lines) + 1}: a line without its end; the file is cut off, copy it again")
        return cls(first)
