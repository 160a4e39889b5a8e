"""Settings that somebody wrote and that nothing reads next to the other settings of a new run or evaluation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encoder_lab.settings.config_help import with_defaults
from encoder_lab.settings.known import CLASS, known_settings
from encoder_lab.settings.model_setting import INITIAL, WORDS
from encoder_lab.settings.run import names_of
from encoder_lab.settings.run_settings import flat

CONFIGS = Path(__file__).parents[2] / "configs"
OR_NOT = "or leave it out"
SHARED_PROBES = "classifier|measures|source|every_n_epochs|steps"  # those of `probes.` that other suites read, too
WORD_SETTINGS = r"embeddings\.(?!source\b).*"
WORD_VECTORS = "datamodules.word_vectors.store.FromFile"

Unread = Iterator[tuple[str, str]]  # names, as a pattern, and what would have an effect


def without_effect(program: str, settings: Mapping[str, Any], arguments: Sequence[str]) -> list[str]:
    """A line for each reason: the first setting of the command or of a user's file that has no effect for it."""
    written = _written(program, settings, arguments)
    lines = []
    for pattern, remedy in (*_in_parts(settings), *_in_suites(settings), *_in_program(program, settings)):
        if name := next((name for name in written if re.fullmatch(pattern, name)), None):
            lines.append(f"{name}={written.pop(name)}: {re.sub(pattern, remedy, name)}")
            written = {key: value for key, value in written.items() if not re.fullmatch(pattern, key)}
    return lines


def _written(program: str, settings: Mapping[str, Any], arguments: Sequence[str]) -> dict[str, Any]:
    """The settings that the arguments name, and those with a value that our files never give them."""
    keys = (text.partition("=")[0].lstrip("+").rpartition("@")[2] for text in arguments)
    named = tuple(key for key in keys if not (CONFIGS / key).is_dir())
    usual: dict[str, list[Any]] = {}
    for file in known_settings(CONFIGS, program).files:
        for name, value in flat(file):
            usual.setdefault(name, []).append(value)
    for part in settings.get("parts") or ():
        if (path := CONFIGS / "objective" / f"{part}.yaml").is_file():
            usual |= {f"parts.{part}.{name}": [value] for name, value in flat(with_defaults(path))}
    return {
        name: value
        for name, value in flat(settings)
        if any(f"{name}.".startswith(f"{key}.") for key in named)
        or not (isinstance(value, dict) or value in usual.get(name, ()))
    }


def _in_parts(settings: Mapping[str, Any]) -> Unread:
    if "parts" not in settings:
        return
    chosen = settings["objective"].get("parts")
    if chosen is None:
        yield r"parts\..*", f"only objective=multitask has parts; give objective=multitask, {OR_NOT}"
        return
    yield r"parts\.\w+\.(objective\.optimizer\b.*)", r"the parts share one optimiser; give \1="
    yield r"parts\.\w+\.(?!objective\b|datamodule\b|corpus\b)(.*)", r"all parts share it; give \1="
    for name in settings["parts"]:
        if name not in chosen:
            parts = ",".join([*map(str, chosen), name])
            yield rf"parts\.{name}\..*", f"{name} is not in objective.parts; give objective.parts=[{parts}], {OR_NOT}"
    if settings["datamodule"].get("parts") != chosen:
        yield r"datamodule\.parts", "the objective says which parts; give objective.parts="


def _in_suites(settings: Mapping[str, Any]) -> Unread:
    suites = settings.get("suites") or {}
    groups = [suite["settings"] for suite in suites.values()]
    if suites and "probes" not in groups:
        names = ",".join(["probing", *suites])
        yield rf"probes\.(?!{SHARED_PROBES}).*", f"only suite=probing reads it; give suite=[{names}], {OR_NOT}"
    classifier = settings["probes"]["classifier"]
    if classifier.get("widths") == [0] and any(classifier["dropouts"]):
        yield r"probes\.classifier\.dropouts", f"widths=[0] has no hidden layer; give other widths, {OR_NOT}"
    if "use" in suites and settings["use"].get("on", "objective") != "objective":
        yield r"use\.examples", "only use.on=objective has dev examples; leave it out"
    if "coherence" in suites and settings["coherence"].get("paths") is not None:
        yield r"coherence\.items", "the files of coherence.paths= have their own items; leave it out"


def _in_program(program: str, settings: Mapping[str, Any]) -> Unread:
    from_text = settings["embeddings"]["source"].get(CLASS) != WORD_VECTORS
    if program == "evaluate":
        names = names_of(settings["model"])
        forms = {name.partition(":")[0] for name in names}
        if forms <= {*WORDS, "hf", "vectors", "call", "lm"} - {*INITIAL}:
            yield WORD_SETTINGS, f"no model here reads word vectors; give model=bov or a run, {OR_NOT}"
        elif from_text and not any(name in INITIAL or name.startswith("untrained/") for name in names):
            yield WORD_SETTINGS, f"a run has its own word vectors; give embeddings=file for more, {OR_NOT}"
        yield r"embeddings\.freeze", "it is about training; leave it out"
        if "hf" not in forms:
            yield "layers|pooling|prompt", f"only a Hugging Face model has it; give model=hf:NAME_OR_PATH, {OR_NOT}"
        if "vectors" not in forms:
            yield "sentences", f"only a file of vectors has it; give model=vectors:FILE.npy, {OR_NOT}"
        yield r"probes\.(every_n_epochs|steps)", "it is about training; give epochs=, for the epochs that a run keeps"
        if settings["protocol"] not in (None, settings["probes"]["classifier"]["protocol"]):
            yield r"probes\.classifier\.protocol", f"protocol={settings['protocol']} replaces it; leave one of them out"
        return
    if settings.get("init") and from_text:
        remedy = f"give embeddings=file for more, {OR_NOT}"
        yield r"embeddings\.(?!dim\b|freeze\b|source\.).*", f"the words of init= have vectors; {remedy}"
    encoder = settings["encoder"]
    if encoder.get("_target_") == "encoders.bigru.BiGRU" and encoder.get("layers") == 1 and encoder.get("dropout"):
        yield r"encoder\.dropout", f"it is between layers, and there is one; give encoder.layers=2, {OR_NOT}"
    for name, part in {"": settings, **(settings.get("parts") or {})}.items():
        prefix, objective = rf"parts\.{name}\." if name else "", part.get("objective") or {}
        yield from _in_objective(prefix, objective)
        if encoder.get("attention") and not objective.get("attention", True):
            attends = "with encoder.attention=true the decoder attends"
            yield rf"{prefix}objective\.attention", f"{attends}; choose another encoder=, {OR_NOT}"


def _in_objective(prefix: str, objective: Mapping[str, Any]) -> Unread:
    """What an objective leaves unread of its settings and of its data's."""
    if objective.get("head") == "linear" and objective.get("dropout"):
        yield rf"{prefix}objective\.dropout", f"objective.head=linear has none; give objective.head=nonlinear, {OR_NOT}"
    for losses, names in (("nsp sdt", "bag_words"), ("nl", "levels"), ("spp", "(sentence|paragraph)_positions")):
        chosen = objective.get("losses")
        if isinstance(chosen, list) and not any(loss in chosen for loss in losses.split()):
            terms = losses.replace(" ", " or ")
            yield (rf"{prefix}datamodule\.{names}", f"the loss {terms} reads it; add it to objective.losses, {OR_NOT}")
