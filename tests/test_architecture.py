"""The shape of the code holds: imports go one way, modules stay short, and the tools have nothing to say."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "foley_desktop"

LONGEST_MODULE = 400
LONGEST_EXCEPTION = 450
MOST_EXCEPTIONS = 3

QT = {"PySide6", "shiboken6", "PyQt6", "pytestqt"}
WITH_QT = ("app.py", "ui", "workers")

# What takes seconds or megabytes to import, and so is imported where it is used.
HEAVY = ("torch", "transformers", "lancedb", "pyarrow", "av", "librosa", "scipy", "PySide6")


def modules(folder: Path = PACKAGE) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def python(*arguments: str, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """This environment's interpreter, in the repository."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)


def said(result: subprocess.CompletedProcess[str]) -> str:
    return (result.stdout + result.stderr)[-8000:]


LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def test_imports_go_one_way():
    result = python("-c", LINT_IMPORTS)
    assert result.returncode == 0, said(result)


def test_the_import_contracts_would_notice(tmp_path):
    copied = tmp_path / "foley_desktop"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    with (copied / "audio" / "__init__.py").open("a") as room:
        room.write("\n\ndef wrong():\n    import foley_desktop.index.protocols\n    import PySide6.QtCore\n")
    result = python("-c", LINT_IMPORTS, cwd=tmp_path)
    assert result.returncode == 1 and "2 broken" in result.stdout, said(result)


def test_ruff_has_nothing_to_say():
    result = python("-m", "ruff", "check", "--no-cache", ".")
    assert result.returncode == 0, said(result)


def test_the_code_is_formatted():
    result = python("-m", "ruff", "format", "--check", "--no-cache", ".")
    assert result.returncode == 0, said(result)


def test_mypy_has_nothing_to_say(tmp_path):
    result = python("-m", "mypy", "--cache-dir", str(tmp_path))
    assert result.returncode == 0, said(result)


def test_modules_stay_short():
    files = [*modules(), *modules(REPOSITORY / "resources"), *modules(REPOSITORY / "packaging")]
    lengths = {
        str(file.relative_to(REPOSITORY)): len(file.read_text("utf-8").splitlines())
        for file in [*files, Path(__file__).with_name("conftest.py")]
    }
    long = {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE}
    assert all(lines <= LONGEST_EXCEPTION for lines in long.values()), long
    assert len(long) <= MOST_EXCEPTIONS, long


def test_every_module_says_why_it_exists():
    silent = [
        str(module.relative_to(REPOSITORY))
        for module in modules()
        if not ast.get_docstring(ast.parse(module.read_text("utf-8")))
    ]
    assert not silent


def imported(module: Path) -> set[str]:
    """Top-level names of everything a module imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_qt_stays_in_the_window():
    core = [m for m in modules() if m.relative_to(PACKAGE).parts[0] not in WITH_QT]
    assert len(core) > 20
    assert not {str(m.relative_to(PACKAGE)): QT & imported(m) for m in core if QT & imported(m)}


@pytest.mark.parametrize(
    "module", ["foley_desktop.cli", "foley_desktop.library.service", "foley_desktop.app"]
)
def test_nothing_heavy_is_imported_before_it_is_used(module):
    heavy = [name for name in HEAVY if not (name == "PySide6" and module.endswith(".app"))]
    result = python("-c", f"import sys, {module}; print([n for n in {heavy} if n in sys.modules])")
    assert result.stdout.strip() == "[]", said(result)


def test_packaging_is_no_package():
    """It would stand in for PyPI's ``packaging`` wherever the repository is on the path."""
    assert not list((REPOSITORY / "packaging").rglob("__init__.py"))
    result = python("-c", "import packaging.version; print(packaging.__file__)")
    assert Path(result.stdout.strip()).parent.parent.name == "site-packages", said(result)


def test_every_package_of_the_source_tree_is_in_the_wheel():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"]) - {"foley_desktop.resources"}
    there = {".".join(f.parent.relative_to(REPOSITORY).parts) for f in PACKAGE.rglob("__init__.py")}
    assert listed == there
