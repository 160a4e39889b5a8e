"""Run a study: each cell once, by whichever process comes first; then the reports.

python train.py experiment=conneau2018/table2 scale=demo
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException, InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from common.config_check import mistakes
from common.errors import InputError, in_one_line
from common.files import atomic_write
from common.locks import claimed
from studies.estimate import hours, together
from studies.plan import SCALES, Cell, Study, read_study

ROOT = Path(__file__).parents[1]
DONE = "done"  # a file in the folder of a finished cell
CLAIM = ".claim"  # and in that of one that a process works on
SETTINGS = "settings.txt"  # and in that of one begun: what the study set, a line each
HERE = ("cache", "trainer.accelerator", "trainer.devices")  # in which processes that share a study may differ
OWN = ("experiment", "scale", "data", "study.dir", "dry_run")
CONFIGS = ROOT / "configs"
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def run_study(configs: Path, name: str, arguments: Sequence[str]) -> int:
    """Run or continue the study that the command line names; its exit status."""
    given = dict(text.partition("=")[::2] for text in arguments if text.split("=")[0] in OWN)
    more = [text for text in arguments if text.split("=")[0] not in OWN]
    dry_run = given.get("dry_run", NO[0])
    if dry_run.lower() not in (*YES, *NO):
        raise InputError(f"dry_run={dry_run}: give true or false")
    scale = given.get("scale", SCALES[0])
    study = read_study(configs / "experiment" / f"{name}.yaml", name, scale, given.get("data", "data"), more)
    folder = Path(given.get("study.dir", f"runs/studies/{name}/{scale}"))
    cells = [*study.cells, *study.evaluations]
    for cell in cells:
        refuse_other_settings(cell, folder)
    composed(cells[0])  # what is misspelt is so in all of them
    if dry_run.lower() in YES:
        print(plan(study, folder))
        return 0
    for place, why in study.left_out.items():
        print(f"{place}: left out, {why}", flush=True)
    failed = [cell.name for cell in cells if not run_cell(cell, folder)]
    waiting = [cell.name for cell in cells if not (folder / cell.name / DONE).exists()]
    if waiting:
        after = [cell.name for cell in study.evaluations if cell.scored in failed]
        elsewhere = [name for name in waiting if name not in (*failed, *after)]
        lists = {
            "failed": failed,
            "waits for a failed run": after,
            "not finished; other processes have them": elsewhere,
        }
        for title, names in lists.items():
            if names:
                print(f"{title}: {', '.join(names)}", file=sys.stderr)
        print("the same command goes on from here", file=sys.stderr)
        return 1
    return report(study, folder)


def run_cell(cell: Cell, study: Path) -> bool:
    """Run or resume one cell unless it is done, another process has it, or its run is not there; False if it failed."""
    folder = study / cell.name
    refuse_other_settings(cell, study)
    if (folder / DONE).exists() or (cell.scored and not (study / cell.scored / DONE).exists()):
        return True
    with claimed(folder, CLAIM) as mine:
        if not mine or (folder / DONE).exists():
            return True
        begun = (folder / "config.yaml").exists()
        print(f"{cell.name}: {'resumed' if begun else 'begun'}", flush=True)
        if not begun:
            with atomic_write(folder / SETTINGS) as file:
                file.writelines(f"{text}\n" for text in cell.overrides)
        if cell.program == "train":
            settings = [f"resume={folder}"] if begun else [*cell.overrides, f"hydra.run.dir={folder}"]
        else:
            settings = [text.replace("{run}", str(study / cell.scored)) for text in (*cell.overrides, f"out={folder}")]
        program = str(ROOT / f"{cell.program}.py")
        try:
            status = subprocess.run([sys.executable, program, *settings], check=False).returncode
        except KeyboardInterrupt:
            print("\nstopped; the same command goes on from here", file=sys.stderr)
            raise SystemExit(130) from None
        if status == 130:
            raise SystemExit(130)
        if status == 0:
            with atomic_write(folder / DONE) as file:
                file.write("\n")
        return status == 0


def refuse_other_settings(cell: Cell, study: Path) -> None:
    """Raises InputError where a cell was begun with other settings. A folder of an earlier version does not say."""
    path = study / cell.name / SETTINGS
    if path.exists():
        then, now = _last_of_each(path.read_text(encoding="utf-8").splitlines()), _last_of_each(cell.overrides)
        said = [f"with {text}" for text in sorted(then - now)] + [f"without {text}" for text in sorted(now - then)]
        if said:
            remedy = "give the settings it had, or study.dir= another folder"
            raise InputError(f"{path.parent}: begun {' and '.join(said)}; {remedy}")


def _last_of_each(overrides: Sequence[str]) -> set[str]:
    """What counts of some settings, in whatever order: the last value of each."""
    values = dict(text.partition("=")[::2] for text in overrides)
    return {f"{key}={value}" for key, value in values.items() if key not in HERE}


def report(study: Study, folder: Path) -> int:
    """Tables and figures of a finished study, in its folder."""
    scored = [
        path.parent for cell in study.evaluations for path in sorted((folder / cell.name).glob("*/*/config.yaml"))
    ]
    runs = [str(path) for path in (*(folder / cell.name for cell in study.cells), *scored)]
    worst = 0
    for template in study.reports:
        arguments = [part for text in template for part in (runs if text == "{runs}" else [text.format(study=folder)])]
        done = subprocess.run([sys.executable, str(ROOT / "report.py"), *arguments], check=False)
        worst = max(worst, done.returncode)
    return worst


def plan(study: Study, folder: Path) -> str:
    """What would run, what is done, and what is missing on this machine."""
    counts = [f"{len(study.cells)} runs", *([f"evaluations: {len(study.evaluations)}"] if study.evaluations else [])]
    lines = [f"{study.name} at scale={study.scale}: {', '.join(counts)}, in {folder}"]
    estimated: dict[str, dict[str, float]] = {}
    for cell in (*study.cells, *study.evaluations):
        done = (folder / cell.name / DONE).exists()
        lines.append(f"  {cell.name:<40} {'done' if done else missing(cell) or 'ready'}")
        command = " ".join(cell.overrides).replace("{run}", str(folder / cell.scored))
        lines.append(f"      python {cell.program}.py {command}")
        if cell.examples:
            config = composed(cell)
            choices, epochs = config.hydra.runtime.choices, config.trainer.max_epochs
            as_measured = config.encoder == OmegaConf.load(CONFIGS / "encoder" / f"{choices.encoder}.yaml")
            what = choices.encoder, choices.objective, cell.examples, epochs
            spent = estimated[cell.name] = hours(*what, ROOT / "benchmarks" / "results") if as_measured else {}
            for machine, number in spent.items():
                said = f"{cell.examples:,} examples, {epochs} epochs: {number:,.0f} hours on {machine}"
                lines.append(f"      {said}")
    lines += [f"  {said}" for said in together(estimated)]
    lines += [f"  {place:<40} left out: {why}" for place, why in study.left_out.items()]
    return "\n".join(lines)


def composed(cell: Cell) -> DictConfig:
    """The whole configuration of a cell. Raises InputError or HydraException where it cannot be one."""
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        overrides = [text.replace("{run}", cell.scored) for text in cell.overrides]
        config = compose(cell.program, overrides, return_hydra_config=True)
    known = [key for key in map(str, config) if key != "hydra" and not key.endswith("_name")]  # before it is run
    if wrong := mistakes(OmegaConf.masked_copy(config, known)):
        raise InputError("; ".join(wrong))
    return config


def missing(cell: Cell) -> str:
    """What a cell needs and this machine lacks; empty if it can run."""
    found = []
    try:
        config = composed(cell)
        if config.embeddings.source.get("path", "") is None:
            found.append("embeddings.path=FILE")
        sources = [config.embeddings.source.get("path"), config.probes.source.get("root")]
        sources += config.probes.source.get("paths") or []
        sources += [config.downstream.root] if config.get("suite") == "downstream" else []
        found += [path for path in sources if path and not Path(path).exists()]
        instantiate(config.corpus)
    except (InputError, HydraException, InstantiationException) as error:
        found.append(in_one_line(error))
    return f"missing: {'; '.join(found)}" if found else ""
