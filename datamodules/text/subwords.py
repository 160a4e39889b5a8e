"""Target subwords: byte-pair encoding (BPE) with SentencePiece."""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import sentencepiece

from datamodules.arrays import chunks
from datamodules.batches import PADDING, UNKNOWN
from datamodules.text.languages import refuse_unspaced
from encoder_lab.errors import InputError
from encoder_lab.storage.files import atomic_write, refuse_special

BEGIN, END = 2, 3  # rows of the sentence marks
RESERVED_PATTERN = re.compile("<(pad|unk|s|/s)>|.{1049}")  # the library reads over these, and over words of 4193 bytes
SPECIAL_ROWS = 5  # padding, unknown, both sentence marks, and the mark where a word begins


def without_word_marks(text: str) -> str:
    """The text as it is decoded: the library writes "\u2581" for a space and reads it as one."""
    return " ".join(text.replace("\u2581", " ").split()) if "\u2581" in text else text


class Piece(NamedTuple):
    """One code of a sentence."""

    id: int
    text: str  # with a mark where a word begins
    first: int  # its first character in the sentence; the space before a word is the word's
    end: int  # the character after its last one


class Subwords:
    """A trained BPE model. `decode(encode(s)) == s` for single-spaced text of known characters."""

    def __init__(self, model: bytes) -> None:
        self._model = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.size: int = self._model.get_piece_size()

    @classmethod
    def train(cls, sentences: Iterable[str], out: Path, size: int, place: str = "this text") -> "Subwords":
        """Learn `size` codes of several characters, or as many as the text allows, and write the model to `out`.

        The characters, the mark where a word begins, and the special rows come in addition.

        No code spans two words (Sennrich et al. 2016, section 3.2), so word counts are enough.
        """
        counts = Counter(chain.from_iterable(map(str.split, sentences)))
        refuse_unspaced(counts, place)
        unreserved = (word for word in counts if not RESERVED_PATTERN.search(word))
        missed = "".join(sorted(set("".join(filter(RESERVED_PATTERN.search, counts))).difference(*unreserved)))
        required: dict[str, Any] = {"required_chars": missed} if missed else {}  # an empty one would change the file
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=(f"{word}\t{count}" for word, count in counts.items()),
                input_format="tsv",
                model_writer=model,
                model_type="bpe",
                vocab_size=size + len(set(chain.from_iterable(counts))) + SPECIAL_ROWS,
                hard_vocab_limit=False,
                character_coverage=1.0,
                **required,
                normalization_rule_name="identity",
                num_threads=1,  # the same codes on every machine
                pad_id=PADDING,
                unk_id=UNKNOWN,
                bos_id=BEGIN,
                eos_id=END,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise InputError(f"no subword codes could be learnt from the training text: {error}") from None
        with atomic_write(out, binary=True) as file:
            file.write(model.getvalue())
        return cls(model.getvalue())

    @classmethod
    def load(cls, path: Path) -> "Subwords":
        """Read a model that `train` wrote."""
        try:
            refuse_special(path)
            return cls(path.read_bytes())
        except (OSError, RuntimeError) as error:
            raise InputError(f"{path}: not a SentencePiece model ({error}); delete its folder to rebuild it") from None

    def encode_all(self, sentences: Iterable[str]) -> Iterator[list[int]]:
        """Ids of many sentences, each [begin, codes..., end]; on all cores, some thousand at a time."""
        for chunk in chunks(sentences):
            yield from self._model.encode(chunk, out_type=int, add_bos=True, add_eos=True, num_threads=-1)

    def pieces(self, sentence: str) -> list[Piece]:
        """The codes of a sentence, without its marks, and the characters of each."""
        pieces = self._model.encode(sentence, return_type="proto").pieces
        data = sentence.encode()  # the library counts bytes
        edges = {edge for piece in pieces for edge in (piece.begin, piece.end)}
        characters = {edge: len(data[:edge].decode()) for edge in edges}
        return [Piece(piece.id, piece.piece, characters[piece.begin], characters[piece.end]) for piece in pieces]

    def decode(self, rows: list[list[int]]) -> list[str]:
        """Sentences from their codes."""
        return self._model.decode(rows) if rows else []
