"""The page of TensorBoard with our palette."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from tensorboard import assets, default, program

from encoder_lab.errors import InputError
from encoder_lab.reports.tensorboard import COLOURS, COMMAND, SCRIPT, folder_of, options, page_files, with_more_colours


def test_the_page_differs_from_tensorboards_own_in_the_palette_only() -> None:
    with assets.get_default_assets_zip_provider()() as file, ZipFile(file) as own, ZipFile(page_files()) as ours:
        assert ours.namelist() == own.namelist()
        assert [name for name in own.namelist() if ours.read(name) != own.read(name)] == [SCRIPT]
        before, after = own.read(SCRIPT).decode(), ours.read(SCRIPT).decode()
    assert all(after.count(f'"lightHex": "{colour}"') == 1 for colour in COLOURS)
    assert len(set(COLOURS)) == len(COLOURS) >= 17  # the tasks of the largest suite
    start = before.index('[{name:"Slate"')
    assert after[:start] == before[:start]
    rest = before[before.index(",inactive:", start) :]
    assert after.endswith(rest)


def test_a_script_with_another_palette_stays_as_it_is() -> None:
    script = "colorPalette:{colors:palette(),inactive:1}"
    assert with_more_colours(script) == script


@pytest.mark.parametrize(("arguments", "said"), [(["file"], "file: no such"), ([], "runs: no such")])
def test_a_folder_that_is_not_there_is_told(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=said):
        folder_of(COMMAND.read(arguments))


def test_every_setting_reaches_tensorboard(tmp_path: Path) -> None:
    served = program.TensorBoard(default.get_plugins(), page_files)
    served.configure(options(COMMAND.read([str(tmp_path), "port=6123", "host=0.0.0.0", "reload_interval=9"])))
    flags = served.flags
    assert (flags.logdir, flags.port, flags.host, flags.reload_interval) == (str(tmp_path), 6123, "0.0.0.0", 9)
