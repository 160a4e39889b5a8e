"""What an evaluation refuses before it begins: settings that apply to nothing, models that cannot be opened."""

from collections.abc import Sequence

from omegaconf import DictConfig, ListConfig, OmegaConf

from encoder_lab.errors import InputError
from encoder_lab.evaluation.names import FORMS
from encoder_lab.reports.evaluations import refuse_published_of_other_tasks, requested_tables
from probes.facts import facts_of
from probes.suites import Suite


def refuse_wrong_settings(config: DictConfig) -> None:
    """Raises InputError for settings that are wrong with any models and tasks."""
    requested_tables(config)
    _refuse_layers_of_no_transformer(config)
    if not models_wanted(config) and not config.write_sentences:
        raise InputError(f"model= is missing; give {FORMS}")


def refuse_what_has_no_effect(config: DictConfig, suites: Sequence[Suite]) -> None:
    """Raises InputError if no suite has tasks, or a setting applies to none of the suites."""
    if not any(suite.tasks for suite in suites):
        raise InputError("no tasks; give suite=, and for suite=probing a source: probes=corpus, trees or senteval")
    if (config.control or config.mdl) and not any(facts_of(suite.name).controls for suite in suites):
        names = ",".join(suite.name for suite in suites)
        raise InputError(f"control= and mdl= apply only to probing tasks; leave them out with suite={names}")
    refuse_published_of_other_tasks(config, suites)


def _refuse_layers_of_no_transformer(config: DictConfig) -> None:
    """Raises InputError where a setting of `hf:` models is given and none of the models is one."""
    if any(name.startswith("hf:") for name in models_wanted(config)):
        return
    for key, default in (("layers", "last"), ("pooling", None), ("prompt", None)):
        if config[key] != default:
            remedy = "only a Hugging Face model has it; give model=hf:NAME_OR_PATH, or leave it out"
            raise InputError(f"{key}={config[key]}: {remedy}")


def models_wanted(config: DictConfig) -> list[str]:
    """The names in `model=`; none where it is not given."""
    return [] if OmegaConf.is_missing(config, "model") or not config.model else several(config.model)


def caches(config: DictConfig) -> bool:
    """Whether scores and vectors are kept for the next evaluation."""
    return str(config.cache) not in ("off", "False", "None")


def several(setting: object) -> list[str]:
    """The names in a setting that is a list or one name."""
    return [str(name) for name in setting] if isinstance(setting, ListConfig) else [str(setting)]
