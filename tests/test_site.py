"""make docs: the pages and the API reference as a site that fetches nothing."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packages import PACKAGES, ROOT

OURS = re.compile(rf"^from ((?:{'|'.join(PACKAGES)})[\w.]*) import ([\w, ]+)$", re.M)
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"?([^\" >]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_file_that_a_page_needs_is_in_the_folder(site) -> None:
    for page in site.rglob("*.html"):
        for target in FETCHED.findall(page.read_text(encoding="utf-8")):
            path = target.partition("#")[0].partition("?")[0]
            base = site if path.startswith("/") else page.parent  # 404.html alone is served from any place
            assert (base / path.lstrip("/")).exists(), f"{page.name}: {target}"


def test_every_name_that_our_pages_and_examples_import_is_in_the_reference_and_its_index(site) -> None:
    sources = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    used = {name for text in texts for _, names in OURS.findall(text) for name in names.split(", ")}
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    listed = {entry["location"].rpartition(".")[2] for entry in index["docs"] if "api.html#" in entry["location"]}
    assert {"load_encoder", "tasks_for"} <= used
    assert used - listed == {"LABELS", "MakeOptimizer", "Sick", "Split"}  # types, a constant, an example
