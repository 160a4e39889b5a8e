"""README and docs say what is true: commands run or can be composed, links and paths lead somewhere, lines are short.

A command in a block of `sh` is run in a copy of the project, with smaller settings, in the order of its page. Under a
comment `<!-- long: why -->` it is only checked: its settings compose, its options are in the program's --help. A block
of Python is run too, or written to the file that the line above it names.
"""

import os
import re
import runpy
import shlex
import shutil
import sys
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from common.config_check import mistakes
from studies.plan import read_study
from tests.conftest import ROOT, TINY, Lab
from tests.pages import Command, blocks, commands, headings, prose
from tests.shipped import ENCODERS, OBJECTIVES

CONFIGS = ROOT / "configs"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = ["common", "configs", "datamodules", "encoders", "objectives", "probes", "reports", "studies", "training"]
COPIED = [*CODE, "benchmarks", "train.py", "evaluate.py", "report.py", "README.md"]
FEWER = ["probes.tasks=[SentLen]", "corpus.size=200", "embeddings.words=2000", "trainer.max_epochs=1"]
SMALL = {text.partition("=")[0]: text for text in [*TINY, *FEWER] if text != "logger=[]"}
OF_EVALUATION = ("embeddings", "corpus", "probes")  # the groups of SMALL that evaluate.py has
OF_A_STUDY = ("study", "scale", "data", "study_dir", "dry_run")  # not settings of its runs
PATH = re.compile(
    rf"(?<![\w/.-])(?:{'|'.join([*CODE, 'benchmarks', 'examples', 'tests', 'docs'])})/[\w/.-]*(?![\w*<{{])"
)
CHOICE = re.compile(r"\b([a-z]+)=([a-z][\w/]*|\[[a-z_,]+\])(?![\w/.:])")
WRITTEN = {block.names for page in PAGES for block in blocks(page)} - {""}  # the files that pages add to a copy
OURS = (*ENCODERS, *OBJECTIVES)
FORKS = get_context("forkserver")  # tests/conftest.py gives it our imports

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


class Clone:
    """A copy of the project in which the commands of all pages are run, each once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: set[str] = set()
        self.helps: dict[str, str] = {}  # by program
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / name)

    def run(self, command: Command) -> None:
        """Run a command, made small, unless an earlier page has."""
        if str(command) not in self.done:
            self.done.add(str(command))
            self.finish(smaller(command, self.folder / "configs"))

    def help(self, command: Command) -> str:
        """What the program of a command says of its settings."""
        program = [*command.program, *(command.arguments[:1] if command.name == "report.py" else [])]
        key = " ".join(program)
        if key not in self.helps:
            self.helps[key] = self.finish(Command(command.program, [*program[len(command.program) :], "--help"]))
        return self.helps[key]

    def finish(self, command: Command) -> str:
        """Run a command to its end; what it said. Fails unless it succeeds."""
        said = self.folder / "said"
        process = FORKS.Process(target=become, args=(command, self.folder, said))
        process.start()
        process.join(300)
        process.kill()
        text = said.read_text(encoding="utf-8", errors="replace")
        assert process.exitcode == 0, f"{shlex.join([*command.program, *command.arguments])}\n{text}"
        return text


def become(command: Command, folder: Path, said: Path) -> None:
    """Do what a shell in `folder` does with a command; this process is a fresh fork."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.chdir(folder)
    for number, file, how in (
        (0, command.stdin or os.devnull, os.O_RDONLY),
        (2, said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND),
        (1, command.stdout or said, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
    ):
        os.dup2(os.open(file, how, 0o600), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # a fork has none
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] in CODE]:
        if hasattr(module, "__path__"):  # a page may have added a part to this package
            module.__path__ = [str(folder / module.__name__.replace(".", "/")), *module.__path__]
    sys.path.insert(0, str(folder))
    sys.argv = [command.name, *command.arguments]
    if command.program == ["-c"]:
        exec(command.arguments[0], {"__name__": "__main__"})
    elif command.program[0] == "-m":
        sys.modules.pop(command.name, None)
        runpy.run_module(command.name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(command.name, run_name="__main__")


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory, lab: Lab) -> Clone:
    """With a run in RUN and sentences in sentences.txt, as README has them, and the cache of other tests."""
    made = Clone(tmp_path_factory.mktemp("clone"))
    (made.folder / ".cache").symlink_to(lab.cache)
    first = next(block for block in blocks(ROOT / "docs" / "train.md") if block.language == "sh")
    made.run(next(commands(first.text)))
    shutil.copytree(made.folder / "runs" / "first", made.folder / "RUN")
    (made.folder / "sentences.txt").write_text("A sentence .\nAnother one .\n", encoding="utf-8")
    return made


@cache
def composed(configs: Path, program: str, overrides: tuple[str, ...]) -> DictConfig:
    """The configuration of train.py or evaluate.py; of a sweep that of its first run."""
    first = [re.sub(r"=([^\[,]*),.*", r"=\1", text) for text in overrides]
    with initialize_config_dir(str(configs), version_base="1.3"):
        return compose(program.removesuffix(".py"), first, return_hydra_config=True)


def settings_of(command: Command) -> tuple[str, ...]:
    """The settings that Hydra composes; of a study those of its first run. Raises InputError where it has none."""
    settings = [text for text in command.arguments if re.match(r"(?!resume|hydra)[^-$][^$]*=[^$]*$", text)]
    given = dict(text.split("=", 1) for text in settings)
    if name := given.get("study"):
        more = [text for text in settings if text.split("=")[0] not in OF_A_STUDY]
        study = read_study(CONFIGS / "study" / f"{name}.yaml", name, given.get("scale", "demo"), "data", more)
        settings = study.cells[0].overrides
    return tuple(settings)


def check(command: Command, clone: Clone) -> None:
    """Fails unless every setting and option of a command exists."""
    if command.name == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        assert set(command.arguments) <= set(targets)
    elif command.name in ("train.py", "evaluate.py"):
        config = composed(clone.folder / "configs", command.name, settings_of(command))
        known = [key for key in map(str, config) if key != "hydra" and not key.endswith("_name")]
        assert not mistakes(OmegaConf.masked_copy(config, known))
    elif command.name != "pytest":
        said = clone.help(command)
        for option in filter(None, (re.match(r"--[\w-]+|[a-z_]+=", text) for text in command.arguments)):
            assert option[0] in said, f"{option[0]} is not in the help of {command.name}"


def smaller(command: Command, configs: Path) -> Command:
    """With the small settings that the command has and does not give itself."""
    outside = any(text.startswith("--config-dir") for text in command.arguments)  # these are small by themselves
    if (
        outside
        or command.name not in ("train.py", "evaluate.py")
        or {"--help", "resume"} & {text.partition("=")[0] for text in command.arguments}
    ):
        return command
    config = composed(configs, command.name, settings_of(command))
    own = {text.partition("=")[0] for text in command.arguments} - {"corpus.size"}
    own |= {"encoder.projection"} if "-m" in command.arguments else set()  # not every encoder of a sweep has it
    small = [
        text
        for key, text in SMALL.items()
        if key not in own
        and OmegaConf.select(config, key) is not None
        and (command.name == "train.py" or key.startswith(OF_EVALUATION))
    ]
    return command._replace(arguments=[*command.arguments, *small])


@every_page
def test_the_commands_of_a_page_run_from_top_to_bottom(page: Path, clone: Clone) -> None:
    for block in blocks(page):
        if block.names:
            (clone.folder / block.names).parent.mkdir(parents=True, exist_ok=True)
            (clone.folder / block.names).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            clone.finish(Command(["-c"], [block.text]))
        elif block.language == "sh":
            for command in commands(block.text):
                (check(command, clone) if block.long else clone.run(command))


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    for _, line in prose(page):
        for target in re.findall(r"\]\((?!https?:)([^)]*)\)", line):
            path, _, heading = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            assert linked.exists(), target
            assert not heading or heading in headings(linked), target


@every_page
def test_paths_and_choices_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not {path for path in PATH.findall(text) if not (ROOT / path.rstrip(".")).exists()} - WRITTEN
    for group, names in CHOICE.findall(text):
        for name in names.strip("[]").split(",") if (CONFIGS / group).is_dir() else ():
            file = f"configs/{group}/{name}.yaml"
            assert any(path.endswith(file) for path in WRITTEN) or (ROOT / file).exists(), f"{group}={name}"


@every_page
def test_lines_of_prose_are_short_and_long_tables_have_a_page_of_their_own(page: Path) -> None:
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
