"""The page of TensorBoard with our palette."""

from zipfile import ZipFile

from tensorboard import assets

from reports.tensorboard import COLOURS, SCRIPT, page_files, with_more_colours


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
