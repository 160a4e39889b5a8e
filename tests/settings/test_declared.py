"""Where settings are declared: in the source of modules, which are not imported."""

import sys
from importlib.util import spec_from_file_location
from types import SimpleNamespace

from encoder_lab.settings.declared import file_of


def test_a_module_that_an_editable_installation_maps_is_read_in_its_folder(tmp_path, monkeypatch) -> None:
    (tmp_path / "part.py").write_text("raise ImportError")
    init = tmp_path / "__init__.py"
    init.write_text("raise ImportError")

    def find_spec(name, *_):
        folders = [str(tmp_path)]
        return spec_from_file_location(name, init, submodule_search_locations=folders) if name == "mapped" else None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, SimpleNamespace(find_spec=find_spec)])
    assert [file_of(name) for name in ("mapped", "mapped.part", "mapped.none")] == [init, tmp_path / "part.py", None]
    assert [file_of(name) for name in ("sys", "nowhere.at_all", "")] == [None, None, None]
