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
from omegaconf import DictConfig

from datamodules.claim import claimed
from datamodules.errors import InputError
from datamodules.files import atomic_write
from studies.estimate import hours
from studies.plan import SCALES, Cell, Study, read_study

ROOT = Path(__file__).parents[1]
DONE = "done"  # a file in the folder of a finished cell
CLAIM = ".claim"  # and in that of one that a process works on
OWN = ("experiment", "scale", "data", "study.dir", "dry_run")


def run_study(configs: Path, name: str, arguments: Sequence[str]) -> int:
    """Run or continue the study that the command line names; its exit status."""
    given = dict(text.split("=", 1) for text in arguments if text.split("=", 1)[0] in OWN and "=" in text)
    more = [text for text in arguments if text.split("=", 1)[0] not in OWN]
    scale = given.get("scale", SCALES[0])
    study = read_study(configs / "experiment" / f"{name}.yaml", name, scale, given.get("data", "data"), more)
    folder = Path(given.get("study.dir", f"runs/studies/{name}/{scale}"))
    if given.get("dry_run", "false").lower() == "true":
        print(plan(study, folder, configs))
        return 0
    for place, why in study.left_out.items():
        print(f"{place}: left out, {why}", flush=True)
    failed = [cell.name for cell in study.cells if not run_cell(cell, folder / cell.name)]
    waiting = [cell.name for cell in study.cells if not (folder / cell.name / DONE).exists()]
    if waiting:
        elsewhere = [name for name in waiting if name not in failed]
        for title, names in (("failed", failed), ("not finished; other processes have them", elsewhere)):
            if names:
                print(f"{title}: {', '.join(names)}", file=sys.stderr)
        print("the same command goes on from here", file=sys.stderr)
        return 1
    return report(study, folder)


def run_cell(cell: Cell, folder: Path) -> bool:
    """Run or resume one cell unless it is done or another process has it; False if it failed."""
    if (folder / DONE).exists():
        return True
    with claimed(folder, CLAIM) as mine:
        if not mine or (folder / DONE).exists():
            return True
        begun = (folder / "config.yaml").exists()
        print(f"{cell.name}: {'resumed' if begun else 'begun'}", flush=True)
        settings = [f"resume={folder}"] if begun else [*cell.overrides, f"hydra.run.dir={folder}"]
        try:
            status = subprocess.run([sys.executable, str(ROOT / "train.py"), *settings], check=False).returncode
        except KeyboardInterrupt:
            print("\nstopped; the same command goes on from here", file=sys.stderr)
            raise SystemExit(130) from None
        if status == 130:
            raise SystemExit(130)
        if status == 0:
            with atomic_write(folder / DONE) as file:
                file.write("\n")
        return status == 0


def report(study: Study, folder: Path) -> int:
    """Tables and figures of a finished study, in its folder."""
    runs = [str(folder / cell.name) for cell in study.cells]
    worst = 0
    for template in study.reports:
        arguments = [part for text in template for part in (runs if text == "{runs}" else [text.format(study=folder)])]
        done = subprocess.run([sys.executable, str(ROOT / "report.py"), *arguments], check=False)
        worst = max(worst, done.returncode)
    return worst


def plan(study: Study, folder: Path, configs: Path) -> str:
    """What would run, what is done, and what is missing on this machine."""
    lines = [f"{study.name} at scale={study.scale}: {len(study.cells)} runs in {folder}"]
    total: dict[str, float] = {}
    for cell in study.cells:
        done = (folder / cell.name / DONE).exists()
        lines.append(f"  {cell.name:<40} {'done' if done else missing(cell, configs) or 'ready'}")
        lines.append(f"      python train.py {' '.join(cell.overrides)}")
        if cell.examples:
            config = composed(cell, configs)
            choices, epochs = config.hydra.runtime.choices, config.trainer.max_epochs
            spent = hours(choices.encoder, choices.objective, cell.examples, epochs, ROOT / "benchmarks" / "results")
            for machine, number in spent.items():
                total[machine] = total.get(machine, 0.0) + number
                said = f"{cell.examples:,} examples, {epochs} epochs: {number:,.0f} hours on {machine}"
                lines.append(f"      {said}")
    lines += [f"  together {number:,.0f} hours on {machine}, as measured there" for machine, number in total.items()]
    lines += [f"  {place:<40} left out: {why}" for place, why in study.left_out.items()]
    return "\n".join(lines)


def composed(cell: Cell, configs: Path) -> DictConfig:
    """The whole configuration of a cell."""
    with initialize_config_dir(str(configs), version_base="1.3"):
        return compose("train", cell.overrides, return_hydra_config=True)


def missing(cell: Cell, configs: Path) -> str:
    """Why a cell cannot run on this machine; empty if it can."""
    try:
        config = composed(cell, configs)
        instantiate(config.corpus)
        instantiate(config.probes.source, _recursive_=False)
        if config.embeddings.source.get("path", "") is None:
            return "missing: embeddings.path=FILE"
    except (InputError, HydraException, InstantiationException) as error:
        said = error.__cause__ if isinstance(error.__cause__, InputError) else error
        return f"missing: {' '.join(str(said).split())}"
    return ""
