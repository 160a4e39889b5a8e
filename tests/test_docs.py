"""README and docs say what is true: commands run or can be composed, links and paths lead somewhere, lines are short.

A command in a block of `sh` is run in a copy of the project, with smaller settings, in the order of its page. Under a
comment `<!-- long: why -->` it is only checked: its settings compose, its options are in the program's --help. A block
of Python is run too, or written to the file that the line above it names.
"""

import re
import shutil
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from encoder_lab.settings.check import mistakes
from encoder_lab.settings.without_effect import unread_settings
from encoder_lab.studies.compose import referenced_names, resolved_settings
from encoder_lab.studies.plan import read_study
from encoder_lab.training.test_scores import SUITE_ARGUMENT
from tests.asked import composed, own_settings
from tests.clone import CODE, Clone
from tests.conftest import TINY
from tests.packages import ENCODERS, OBJECTIVES, PACKAGES, ROOT
from tests.pages import Command, blocks, commands, headings, prose

CONFIGS = ROOT / "configs"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FEWER = [
    *("probes.tasks=[SentLen]", "probes.classifier.l2=[0.001]"),
    *("probes.train_size=60", "probes.dev_size=30", "probes.test_size=30", "coherence.items=4"),
    *("geometry.sentences=40", "trainer.max_epochs=1", "logger=[csv]", "parts.nmt_enfr.objective.decoder_hidden=12"),
]
SMALL = {text.partition("=")[0]: text for text in [*TINY, *FEWER]}
CLASSIFIER = [text for key, text in SMALL.items() if key.startswith("probes.classifier.")]
OF_TASKS = [*CLASSIFIER, *(SMALL[key] for key in SMALL if key == "corpus.size" or key.endswith("_size"))]
MERE_SIZES = {"corpus.size", "coherence.items", "probes.train_size"}  # small even if a command gives them
OF_EVALUATION = ("embeddings", "corpus", "probes", "coherence", "geometry")  # the groups of SMALL that evaluate.py has
GROUPS = {path.name for path in CONFIGS.iterdir() if path.is_dir()}
HAVE_SIZES = GROUPS - {"schedule", "trainer"}  # other choices have other settings of SMALL
OF_A_STUDY = ("study", "scale", "data", "study_dir", "dry_run")  # not settings of its runs
TASKS_FOR = re.compile(r"(?<=\btasks_for)\((.*)\)")  # takes settings as evaluate.py does
PATH = re.compile(
    rf"(?<![\w/.-])(?:{'|'.join([*CODE, 'benchmarks', 'examples', 'tests', 'docs'])})/[\w/.-]*(?![\w*<{{])"
)
CHOICE = re.compile(r"\b([a-z]+)=([a-z][\w/]*|\[[a-z_,]+\])(?![\w/.:])")
WRITTEN = {block.names for page in PAGES for block in blocks(page)} - {""}  # the files that pages add to a copy
OURS = (*ENCODERS, *OBJECTIVES)
DIFFERENCES = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
PROTOCOLS = ("probing_protocol", "downstream_protocol", "discoeval", "coherence", "studies")
STUDIES = sorted((ROOT / "configs" / "study").rglob("*.yaml"))
NOT_PUBLISHED = re.compile(r"^\s*(\w+): .*#.*(no number in the paper|\bcode: )", re.MULTILINE)
CHOSEN = sorted(
    {name for path in (ROOT / "configs").rglob("*.yaml") for name, _ in NOT_PUBLISHED.findall(path.read_text())}
)
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


class Pages(Clone):
    """A copy of the project in which the commands of all pages are run, each once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.done: set[str] = set()

    def begin(self) -> None:
        """Leave to a page the first run, but not the runs and evaluations of other pages."""
        shutil.rmtree(self.folder / "evaluations", ignore_errors=True)
        for run in (self.folder / "runs").iterdir():
            if run.name != "first":
                shutil.rmtree(run)

    def run(self, command: Command) -> None:
        """Run a command, made small, unless an earlier page has."""
        small = smaller(command, self.folder / "configs")
        if str(small) not in self.done:
            self.done.add(str(small))
            self.finish(small)


@pytest.fixture(scope="session")
def clone(tmp_path_factory, lab) -> Pages:
    """With a run in RUN and sentences in sentences.txt, as README has them, and the cache of other tests."""
    made = Pages(tmp_path_factory.mktemp("clone"))
    (made.folder / ".cache").symlink_to(lab.cache)
    first = next(block for block in blocks(ROOT / "docs" / "train.md") if block.language == "sh")
    made.run(next(commands(first.text)))
    shutil.copytree(made.folder / "runs" / "first", made.folder / "RUN")
    (made.folder / "sentences.txt").write_text("A sentence .\nAnother one .\n", encoding="utf-8")
    return made


def settings_of(command: Command) -> tuple[str, ...]:
    """The settings that Hydra composes; of a study or a sweep those of its first run. Raises InputError without one."""
    settings = [text for text in command.arguments if re.match(r"(?!resume|hydra)[^-$][^$]*=[^$]*$", text)]
    arguments = dict(text.split("=", 1) for text in settings)
    if name := arguments.get("study"):
        more = [text for text in settings if text.split("=")[0] not in OF_A_STUDY]
        study = read_study(CONFIGS / "study" / f"{name}.yaml", name, arguments.get("scale", "demo"), "data", more)
        settings = study.cells[0].overrides
    return tuple(re.sub(r"=([^\[,]*),.*", r"=\1", text) for text in settings)


def check(command: Command, clone: Pages) -> None:
    """Fails unless every setting and option of a command exists."""
    if command.name == "make":
        known = re.findall(r"^([a-z]+):|\$\(([A-Z]+)\)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        assert {text.partition("=")[0] for text in command.arguments} <= {name for names in known for name in names}
    elif command.name in ("train.py", "evaluate.py"):
        program = command.name.removesuffix(".py")
        config = composed(program, *settings_of(command), configs=clone.folder / "configs")
        assert not mistakes(program, resolved_settings(own_settings(config)), referenced_names(config))
    elif command.name != "pytest":
        printed = clone.help(command)
        for option in filter(None, (re.match(r"--[\w-]+|[a-z_]+=", text) for text in command.arguments)):
            assert option[0] in printed, f"{option[0]} is not in the help of {command.name}"


def smaller(command: Command, configs: Path) -> Command:
    """With the small settings that the command has and does not give itself, mere sizes aside."""
    arguments = {text.partition("=")[0] for text in command.arguments}
    if command.name not in ("train.py", "evaluate.py") or {"--help", "resume"} & arguments:
        return command
    if "suite=objective" in command.arguments:  # has the settings of its run
        return command
    quiet = [SMALL["logger"]] if command.name == "train.py" and "logger" not in arguments else []
    small = [*CLASSIFIER, *quiet]  # of a page's own parts, which are small by themselves
    if not any(text.startswith("--config-dir") for text in command.arguments):
        program, settings = command.name.removesuffix(".py"), settings_of(command)
        choices = [text for text in settings if re.split("[=@]", text.lstrip("+"))[0] in HAVE_SIZES]
        config = composed(program, *choices, configs=configs)
        settings_here = resolved_settings(own_settings(composed(program, *settings, configs=configs)))
        idle = [pattern for pattern, _ in unread_settings(program, settings_here)]
        own = arguments - MERE_SIZES | {key for key in SMALL if any(re.fullmatch(pattern, key) for pattern in idle)}
        own |= {"encoder.projection"} if "-m" in command.arguments else set()  # not every encoder of a sweep has it
        if {"suite=downstream", "discoeval.tasks=[SP]"} & {*command.arguments}:  # which logistic regression reads
            own |= {"probes.classifier.widths", "probes.classifier.dropouts"}
        own |= {"probes.classifier.l2"} if "downstream.more" in arguments else set()  # it may be of cosines
        small = [
            text
            for key, text in SMALL.items()
            if key not in own
            and OmegaConf.select(config, key) is not None
            and (command.name == "train.py" or key.startswith(OF_EVALUATION))
        ]
    return command._replace(arguments=[*command.arguments, *small])


@every_page
def test_the_commands_of_a_page_run_from_top_to_bottom(page, clone) -> None:
    clone.begin()
    for block in blocks(page):
        if block.names:
            (clone.folder / block.names).parent.mkdir(parents=True, exist_ok=True)
            (clone.folder / block.names).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            clone.finish(Command(["-c"], [TASKS_FOR.sub(rf"(\1, *{OF_TASKS})", block.text)]))
        elif block.language == "sh":
            for command in commands(block.text):
                (check(command, clone) if block.long else clone.run(command))


@every_page
def test_links_lead_somewhere(page) -> None:
    for _, line in prose(page):
        for target in re.findall(r"\]\((?!https?:)([^)]*)\)", line):
            path, _, heading = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            assert linked.exists(), target
            assert not heading or heading in headings(linked), target


@every_page
def test_paths_and_choices_exist(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert not {path for path in PATH.findall(text) if not (ROOT / path.rstrip(".")).exists()} - WRITTEN
    for group, names in CHOICE.findall(text):
        for name in names.strip("[]").split(",") if (CONFIGS / group).is_dir() else ():
            if f"{group}={name}" == SUITE_ARGUMENT:  # answered before Hydra composes
                continue
            file = f"configs/{group}/{name}.yaml"
            assert any(path.endswith(file) for path in WRITTEN) or (ROOT / file).exists(), f"{group}={name}"


@every_page
def test_lines_of_prose_are_short_and_long_tables_have_a_page_of_their_own(page) -> None:
    tables: list[int] = []  # rows of each table with more than six columns
    before = ""
    for number, line in prose(page):
        assert len(line) <= 100 or line.startswith(("|", "![", "<!--")), f"{page.name}:{number}: {len(line)} columns"
        if line.startswith("|") and line.count("|") > 7:
            tables = [*tables, 1] if not before.startswith("|") else [*tables[:-1], tables[-1] + 1]
        before = line
    assert max(tables, default=0) <= 2 + 12 or page.parent.name == "results"


def test_every_encoder_and_objective_is_in_the_table_of_choices() -> None:
    text = (ROOT / "docs" / "train.md").read_text(encoding="utf-8")
    for group in ("encoder", "objective"):
        row = next(line for line in text.split("\n") if line.startswith(f"| `{group}=`"))
        paths = (CONFIGS / group).glob("*.yaml")
        assert [path.stem for path in paths if f"`{path.stem}`" not in row and path.stem in OURS] == []


def test_readme_names_the_size_of_the_project() -> None:
    packages = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    lines = sum(path.read_bytes().count(b"\n") for path in [*packages, *ROOT.glob("*.py")])
    named = re.search(r"([\d,]+) lines of Python", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert named
    assert abs(int(named[1].replace(",", "")) / lines - 1) < 0.02


@pytest.mark.parametrize("path", [*STUDIES, *(ROOT / f"docs/{name}.md" for name in PROTOCOLS)], ids=lambda p: p.stem)
def test_every_study_and_every_protocol_links_to_the_differences(path) -> None:
    assert "differences.md" in path.read_text(encoding="utf-8")  # type: ignore[attr-defined]


@pytest.mark.parametrize("setting", CHOSEN)
def test_every_number_that_the_papers_do_not_have_is_among_the_differences(setting) -> None:
    assert re.search(rf"`(trainer\.)?{setting}`", DIFFERENCES), f"`{setting}` says so in configs/ alone"


def test_every_difference_says_what_there_here_why_and_worth() -> None:
    rows = [line for line in DIFFERENCES.splitlines() if line.startswith("|")]
    assert len(rows) > 40
    assert {line.count("|") for line in rows} == {6}
