"""Write a trained encoder as a folder that needs nothing of this project.

The vectors are those of the run, for any text. A model card, README.md, comes with them.

  sentence-transformers   for SentenceTransformer(DIR): stock modules where they give the same vectors, otherwise
                          one bundled module, which needs trust_remote_code=True
  torch                   one safetensors file and one Python file
  onnx                    a graph for onnxruntime, and a Python file that reads sentences
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import BOOLEAN, FOLDER, NAMES, Command, Setting, one_of

if TYPE_CHECKING:
    from encoders.portable.parts import Parts

SENTENCE_TRANSFORMERS, TORCH, ONNX = FORMATS = ("sentence-transformers", "torch", "onnx")
USAGE = {
    "stock": "from sentence_transformers import SentenceTransformer\n\nencoder = SentenceTransformer({folder!r})",
    "bundled": "from sentence_transformers import SentenceTransformer\n\n"
    "encoder = SentenceTransformer({folder!r}, trust_remote_code=True)",
    TORCH: "import sys\n\nsys.path.insert(0, {folder!r})\nfrom sentence_encoder import SentenceEncoder\n\n"
    "encoder = SentenceEncoder.load({folder!r})",
    ONNX: "import sys\n\nsys.path.insert(0, {folder!r})\nfrom sentence_encoder import OnnxEncoder\n\n"
    "encoder = OnnxEncoder({folder!r})",
}
PACKAGES = {"stock": "sentence-transformers", "bundled": "sentence-transformers", TORCH: "torch safetensors"}


COMMAND = Command(
    "python -m encoders.export RUN out=DIR",
    __doc__,
    [
        Setting("out", "the new folder", FOLDER, required=True),
        Setting("format", "what reads it", one_of(*FORMATS), SENTENCE_TRANSFORMERS),
        Setting("raw", "tokenise as the run's corpus was; false: words are separated by spaces", BOOLEAN, True),
        Setting("modules", "of sentence-transformers", one_of("auto", "stock", "bundled"), "auto"),
        Setting("allow", "packages with your own encoder or corpus", NAMES),
    ],
    lambda options: export(
        Path(options.positional[0]), options.out, options.format, options.raw, options.modules, options.allow or ()
    ),
    "a run folder (its best checkpoint) or one of its .ckpt files",
    absent="no such run folder or checkpoint",
)


def export(
    path: Path,
    out: Path,
    form: str = SENTENCE_TRANSFORMERS,
    raw: bool = True,
    modules: str = "auto",
    allow: tuple[str, ...] = (),
) -> None:
    """Write the encoder of a run to a new folder. Raises InputError if it cannot be written in this form."""
    from encoder_lab.storage.files import disk_errors, temporary_path
    from encoders.portable.card import model_card
    from encoders.portable.onnx_folder import write_onnx
    from encoders.portable.parts import parts_of
    from encoders.portable.stock import write_bundled, write_stock, write_torch

    if modules != "auto" and form != SENTENCE_TRANSFORMERS:
        raise InputError(f"modules={modules}: only format={SENTENCE_TRANSFORMERS} has it; leave it out")
    if out.exists():
        raise InputError(f"out={out}: already there; give a new folder")
    parts = parts_of(path, raw, allow)
    variant = choose_modules(parts, modules) if form == SENTENCE_TRANSFORMERS else form
    write = {"stock": write_stock, "bundled": write_bundled, TORCH: write_torch, ONNX: write_onnx}[variant]
    usage = USAGE[variant] + "\nvectors = encoder.encode(" + '["A sentence .", "Another one ."])'
    limits = limits_of(parts, raw, variant)
    with disk_errors(out), temporary_path(out, folder=True) as work:
        write(parts, work)
        (work / "README.md").write_text(model_card(parts, usage.format(folder=out.name), limits), encoding="utf-8")
        work.rename(out)
    print(f"{out}: {variant} ({', '.join(sorted(file.name for file in out.iterdir()))})")
    print("\n".join([*limits, "", usage.format(folder=str(out))]))


def choose_modules(parts: "Parts", modules: str) -> str:
    """ "stock" or "bundled". Raises InputError where stock modules were asked for and cannot be."""
    from encoders.portable.stock import why_not_stock

    reason = why_not_stock(parts)
    if modules == "stock" and reason:
        raise InputError(f"modules=stock: {reason}")
    exact = not reason and parts.ngrams is None
    return modules if modules != "auto" else "stock" if exact else "bundled"


def limits_of(parts: "Parts", raw: bool, variant: str) -> "list[str]":
    """What the exported encoder reads, and where its vectors differ from those of the run."""
    from encoders.portable.stock import why_not_stock

    moses = f"Raw text, tokenised by sacremoses (pip install sacremoses), language {parts.language}."
    if parts.config["corpus"].get("tokenized"):
        moses += " The text of the run came tokenised: if by other rules, export with raw=false and tokenise by these."
    split = f"{'Raw text' if raw else 'Tokenised text'}: words are separated by spaces."
    reads = [moses if parts.moses else split]
    if parts.ngrams is not None and variant == "stock":
        reads.append("Unknown words get the zero vector; the run composes them of subwords (modules=bundled does too).")
    elif parts.ngrams is not None:
        reads.append("Words that were not in the text of the run are composed of their character n-grams.")
        if variant == "bundled" and not why_not_stock(parts):
            reads.append("With modules=stock they get the zero vector, and no trust_remote_code is needed.")
    else:
        reads.append("Words that were not in the text of the run get the zero vector.")
    empty = "not-a-number or infinite values" if variant == "stock" and parts.encoder.state_dict() else "zeros"
    return [*reads, f"An empty text gets {empty}; a text is cut after {parts.settings['longest']:,} words."]


if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
