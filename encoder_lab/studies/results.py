"""Run every study again by one commit, and write a page of what each reports.

python -m encoder_lab.studies.results dry_run=true                      what is left, and the hours of the last time
python -m encoder_lab.studies.results scales=[demo,medium] settings=[trainer.precision=bf16-mixed]
python -m encoder_lab.studies.results data=DATA settings=[embeddings.path=FILE]

The same command continues where it was stopped. Pages are written at the end, so that all of them are of one commit.
scale=small reads real text in `data` (docs/studies.md).
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from encoder_lab.errors import InputError
from encoder_lab.settings.command_line import BOOLEAN, FOLDER, TEXT, Command, Setting, list_of, one_of
from encoder_lab.settings.known import choices_in
from encoder_lab.storage.csv_files import read_csv
from encoder_lab.storage.files import atomic_write
from encoder_lab.storage.made_with import run_git
from encoder_lab.studies.cell import ROOT, is_done
from encoder_lab.studies.plan import SCALES, Study, read_study
from encoder_lab.studies.run import run_study

CODE_PATHS = ("configs", "datamodules", "encoder_lab", "encoders", "objectives", "probes", "train.py", "evaluate.py")
COMMIT_FILE, HOURS_FILE = "commit", "hours.json"  # in the folder of the runs, and of the pages


class StudyEntry(NamedTuple):
    """A study at a scale, and where its runs and its page are."""

    study: Study
    title: str
    folder: Path
    page: str

    @property
    def remaining(self) -> int:
        """Runs and evaluations that are not done."""
        return sum(not is_done(cell, self.folder) for cell in (*self.study.cells, *self.study.evaluations))

    def hours(self) -> float:
        """Of training and of classifiers, as the runs have recorded them, so that a kill loses none."""
        files = [*self.folder.rglob("metrics.csv"), *self.folder.rglob("probes.csv")]
        records = [row for path in files for row in read_csv(path)]
        # a control task per word is in selectivity
        counted = (row for row in records if not row.get("task", "").endswith(" control per word"))
        return sum(float(row["seconds"]) for row in counted) / 3600


def run_studies(options: SimpleNamespace) -> int:
    commit, plan = options.commit or commit_of(ROOT), list(entries_of(options))
    recorded = json.loads((options.out / HOURS_FILE).read_text()) if (options.out / HOURS_FILE).exists() else {}
    for entry in plan:
        cells = len(entry.study.cells) + len(entry.study.evaluations)
        time = f"{recorded[entry.page]:.2f} hours the last time" if entry.page in recorded else "no hours known"
        study = f"{entry.study.name} scale={entry.study.scale}"
        print(f"{study}: {entry.remaining} of {cells} cells to do, {time}", flush=True)
    if options.dry_run:
        return 0
    refuse_other_commit(options.runs / COMMIT_FILE, commit)
    statuses = [run_study(options.configs, entry.study.name, study_arguments(entry, options)) for entry in plan]
    if failed := [entry.page for entry, status in zip(plan, statuses, strict=True) if status]:
        print(f"failed: {', '.join(failed)}; the same command continues", file=sys.stderr)
        return 1
    hours = recorded | {entry.page: round(entry.hours(), 3) for entry in plan}
    for entry in plan:
        write_page(entry, options, commit)
        print(f"{options.out / entry.page}.md: {hours[entry.page]:.2f} hours", flush=True)
    with atomic_write(options.out / HOURS_FILE) as file:
        json.dump(hours, file, indent=1, sort_keys=True)
        file.write("\n")
    return 0


def entries_of(options: SimpleNamespace) -> Iterator[StudyEntry]:
    """The studies at each scale that they have. Raises InputError for an unknown study."""
    root = options.configs / "study"
    titles = choices_in(root)
    for name in options.studies or titles:
        if name not in titles:
            raise InputError(f"studies={name}: there are {', '.join(titles)}")
        path = root / f"{name}.yaml"
        for scale in options.scales:
            if re.search(rf"^  {scale}:", path.read_text(encoding="utf-8"), re.M):
                study = read_study(path, name, scale, str(options.data), options.settings)
                page = f"{name.replace('/', '_')}_{scale}"
                yield StudyEntry(study, titles[name].removeprefix("Study: "), options.runs / name / scale, page)


def study_arguments(entry: StudyEntry, options: SimpleNamespace) -> list[str]:
    """Of `train.py` for a study; `data=` only where it reads files."""
    name, scale = entry.study.name, entry.study.scale
    without = read_study(options.configs / "study" / f"{name}.yaml", name, scale, "", options.settings)
    data = [f"data={options.data}"] if entry.study != without else []
    return [f"study={name}", f"scale={scale}", f"study_dir={entry.folder}", *data, *options.settings]


def commit_of(root: Path) -> str:
    """The commit of the code. Raises InputError where it has changes, or where git does not know it."""
    name = run_git(root, "rev-parse", "--short", "HEAD")
    changed = run_git(root, "status", "--porcelain", "--", *CODE_PATHS)
    if not name or changed is None:
        raise InputError("git does not know the commit of this code; give commit=NAME")
    if changed:  # "M path", "?? path"
        path = changed.splitlines()[0].partition(" ")[2].strip()
        raise InputError(f"{path} differs from its commit; commit it, or give commit=NAME")
    return name


def refuse_other_commit(path: Path, commit: str) -> None:
    """Raises InputError where the runs were begun by another commit."""
    if path.exists() and (recorded := path.read_text(encoding="utf-8").strip()) != commit:
        raise InputError(f"{path.parent}: begun by commit {recorded}, this is {commit}; give runs= another folder")
    with atomic_write(path) as file:
        file.write(f"{commit}\n")


def write_page(entry: StudyEntry, options: SimpleNamespace, commit: str) -> None:
    """The page of a study: its command, its commit, its hours, and all that it reports."""
    command = " ".join(["python train.py", *study_arguments(entry, options)])
    summary = f"Commit {commit}, {len(entry.study.cells)} runs, {entry.hours():.2f} hours of training and classifiers."
    parts = [f"# {entry.title}", summary, f"<!-- long: {entry.hours():.1f} hours -->\n```sh\n{command}\n```"]
    texts = [text for report in entry.study.reports for text in report if text.startswith("out=")]
    for report in (Path(text.removeprefix("out=").format(study=entry.folder)) for text in texts):
        if report.suffix == ".md":
            parts.append(report.read_text(encoding="utf-8").strip())
        else:
            options.out.mkdir(parents=True, exist_ok=True)
            picture = f"{entry.page}_{report.name}"
            shutil.copyfile(report, options.out / picture)
            parts.append(f"![{report.stem}]({picture})")
    with atomic_write(options.out / f"{entry.page}.md") as file:
        file.write("\n\n".join(parts) + "\n")


COMMAND = Command(
    "python -m encoder_lab.studies.results",
    __doc__,
    [
        Setting("studies", "which; by default all", list_of(TEXT)),
        Setting("scales", "which of theirs", list_of(one_of(*SCALES)), SCALES[:3]),
        Setting("settings", "of every run", list_of(TEXT), []),
        Setting("data", "the folder of the corpora", FOLDER, Path("data")),
        Setting("runs", "the folder of the runs", FOLDER, Path("runs/results")),
        Setting("out", "the folder of the pages", FOLDER, Path("docs/results/studies")),
        Setting("configs", "the folder that has study/NAME.yaml", FOLDER, ROOT / "configs"),
        Setting("commit", "the name of this code (default: git's, where nothing is changed)", TEXT),
        Setting("dry_run", "only say what is to be done", BOOLEAN, False),
    ],
    run_studies,
    writes=lambda options: options.runs,
)

if __name__ == "__main__":
    sys.exit(COMMAND.run(sys.argv[1:]))
