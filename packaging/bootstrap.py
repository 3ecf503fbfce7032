"""Sets Foley Desktop up on a fresh machine, then starts it or its tests.

    python3 packaging/bootstrap.py run [FOLDER…]       opens the window and indexes the folders
    python3 packaging/bootstrap.py test [PYTEST ARGS]  runs the whole suite
    python3 packaging/bootstrap.py setup               only installs, for both of these

It needs nothing but Python's standard library, because it runs before anything is installed. Everything of
Python's goes into ``.venv`` beside this folder; what the system lacks is installed with apt when we are root,
otherwise the exact command is printed and we go on. A stamp in ``.venv`` says what is installed there, so
that a second start calls neither pip nor apt; a ``.venv`` without its stamp was interrupted and is made anew.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "foley-stamp.json"
REQUIREMENTS = ROOT / "packaging" / "requirements.txt"
LOG = ROOT / "build" / "bootstrap.log"

OLDEST_PYTHON = (3, 11)
NEEDED_BYTES = 4 * 10**9
"""What a fresh set-up takes at its peak, pip's unpacking included."""

FORMAT = 1
"""Part of the stamp: raise it when this file installs differently from the same requirements."""


class SetupError(Exception):
    """One sentence for the user, printed as it is."""


# ---------------------------------------------------------------- what the system must have

# Shared libraries by the name the loader looks for, with the Debian package that brings it.
LIBRARIES = {
    "libportaudio.so.2": "libportaudio2",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}

# For the tests: a sound server without a card, a screen without a monitor, a hand for the mouse.
TEST_PROGRAMS = {
    "pulseaudio": "pulseaudio",
    "pactl": "pulseaudio-utils",
    "parec": "pulseaudio-utils",
    "Xvfb": "xvfb",
    "xdotool": "xdotool",
}
ALSA_PULSE_PLUGIN = "alsa-lib/libasound_module_pcm_pulse.so"


def missing_packages(for_tests: bool) -> list[str]:
    """Debian packages for what the loader or the path does not find here; empty beyond Linux."""
    if not sys.platform.startswith("linux"):
        return []
    missing = {package for library, package in LIBRARIES.items() if not _loads(library)}
    if for_tests:
        missing |= {package for program, package in TEST_PROGRAMS.items() if not shutil.which(program)}
        if not any(glob.glob(f"/usr/{folder}/{ALSA_PULSE_PLUGIN}") for folder in ("lib", "lib64", "lib/*")):
            missing.add("libasound2-plugins")
    return sorted(missing)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def provide_system_packages(for_tests: bool, already_tried: Sequence[str]) -> list[str]:
    """Installs what is missing, or says how. Never ends the set-up: most of the app works without.

    Returns the packages that are missing still, for the stamp: the same ones are not tried again.
    """
    missing = missing_packages(for_tests)
    if set(missing) - set(already_tried) and _is_root() and shutil.which("apt-get"):
        say(f"Installing system packages: {' '.join(missing)}")
        _apt_install(missing)
        missing = missing_packages(for_tests)
    if missing and shutil.which("apt-get"):
        command = ("" if _is_root() else "sudo ") + "apt-get install " + " ".join(missing)
        say(f"Some system packages are missing. Install them with:\n  {command}")
    elif missing:
        say(f"Some system libraries are missing; Debian calls their packages: {' '.join(missing)}")
    return missing


def _apt_install(packages: Sequence[str]) -> None:
    install = ["apt-get", "install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _logged(["apt-get", "update"], environment)
    if _logged([*install, *packages], environment) != 0:
        for package in packages:  # one name that this release does not know must not cost the others
            _logged([*install, package], environment)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


# ---------------------------------------------------------------- what .venv must have


def read_requirements(text: str) -> dict[str, list[str]]:
    """Requirements by the name behind ``; extra ==``: "", "no-deps", "build" and "test"."""
    groups: dict[str, list[str]] = {"": [], "no-deps": [], "build": [], "test": []}
    for line in text.splitlines():
        requirement, _, marker = (part.strip() for part in line.partition("#")[0].partition(";"))
        if not requirement:
            continue
        extra = re.fullmatch(r"""extra\s*==\s*["']([\w-]+)["']""", marker)
        if marker and (extra is None or extra.group(1) not in groups):
            raise SetupError(f"{REQUIREMENTS} has a line that the set-up does not understand: {line.strip()}")
        groups[extra.group(1) if extra else ""].append(requirement)
    return groups


def key_of(groups: Mapping[str, Sequence[str]], for_tests: bool) -> str:
    """Changes whenever something has to be installed: with a pin, with the project file, with this file."""
    wanted = {name: lines for name, lines in groups.items() if for_tests or name != "test"}
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    return hashlib.sha256(json.dumps([FORMAT, project, wanted], sort_keys=True).encode()).hexdigest()


def home() -> list[str]:
    """What ``.venv`` is bound to for life: its scripts hold its path, its packages fit one Python."""
    return [str(VENV), f"{sys.version_info[0]}.{sys.version_info[1]}", sys.platform]


def read_stamp() -> dict[str, list[str]]:
    """What the last finished set-up noted: home, keys, missing. Empty when ``.venv`` is of no use."""
    try:
        stamp = json.loads(STAMP.read_text("utf-8"))
        stamp = {name: list(stamp[name]) for name in ("home", "keys", "missing")}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return stamp if stamp["home"] == home() and PYTHON.exists() else {}


def provide(for_tests: bool) -> None:
    """Gives ``.venv`` and the system what they lack; quick when that is nothing."""
    groups = read_requirements(REQUIREMENTS.read_text("utf-8"))
    key = key_of(groups, for_tests)
    stamp = read_stamp()
    missing = missing_packages(for_tests)
    if key in stamp.get("keys", []) and set(missing) <= set(stamp["missing"]):
        provide_system_packages(for_tests, missing)  # only says what is missing
        return
    with _only_one():
        stamp = read_stamp()  # another start may have finished meanwhile
        missing = provide_system_packages(for_tests, stamp.get("missing", []))
        if key not in stamp.get("keys", []):
            _install(groups, for_tests, fresh=not stamp)
            stamp["keys"] = [key, key_of(groups, for_tests=False)]  # the tests' set holds the window's
        _write_stamp(stamp["keys"], missing)


def _install(groups: Mapping[str, Sequence[str]], for_tests: bool, fresh: bool) -> None:
    if fresh:
        _make_venv()
    with contextlib.suppress(FileNotFoundError):
        STAMP.unlink()  # from here to the new stamp, an interruption means: start from nothing
    main = [*groups[""], *groups["build"], *(groups["test"] if for_tests else [])]
    if main:
        say(f"Installing {len(main)} packages and what they need (a few minutes the first time)")
        _pip(main)
    if groups["no-deps"]:
        say(f"Installing {', '.join(groups['no-deps'])}")
        _pip(["--no-deps", *groups["no-deps"]])
    say("Installing Foley Desktop itself")
    _pip(["--no-deps", "--no-build-isolation", "--editable", str(ROOT)])


def _make_venv() -> None:
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.exists():
        say(f"Starting from nothing: {VENV} is unfinished or was made for another folder or Python")
        shutil.rmtree(VENV)
    free = shutil.disk_usage(ROOT).free
    if free < NEEDED_BYTES:
        raise SetupError(
            f"The set-up needs about {NEEDED_BYTES / 1e9:.0f} GB of free disk space in {ROOT}; "
            f"{free / 1e9:.1f} GB are free."
        )
    if importlib.util.find_spec("ensurepip") is None:
        package = f"python3.{sys.version_info[1]}-venv"
        if _is_root() and shutil.which("apt-get"):
            _apt_install([package])
        else:
            raise SetupError(
                f"This Python cannot make virtual environments; apt-get install {package} helps."
            )
    say(f"Making {VENV}")
    if _logged([sys.executable, "-m", "venv", str(VENV)]) != 0:
        raise SetupError(explain_failure("Python's venv"))


def _pip(arguments: Sequence[str]) -> None:
    environment = {**os.environ, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if _logged([str(PYTHON), "-I", "-m", "pip", "install", "--no-input", *arguments], environment) != 0:
        raise SetupError(explain_failure("pip"))


def explain_failure(who: str) -> str:
    """One sentence on why the last logged command failed, and where to read more."""
    try:
        log = LOG.read_text("utf-8", "replace")
    except OSError:
        log = ""
    # From the surest sign to the vaguest: without a network pip also says that it found no version.
    signs = (
        (r"No space left on device|Errno 28|not enough space", "the disk is full"),
        (r"Permission denied|Errno 13", "a file or folder cannot be written to"),
        (
            r"NewConnectionError|ConnectTimeout|name resolution|getaddrinfo failed|Network is unreachable"
            r"|Connection refused|ReadTimeout|ProxyError|Connection reset",
            "the package index cannot be reached; check the network connection",
        ),
        (r"No matching distribution|Could not find a version", "a package is not on offer for this Python"),
    )
    last = log[log.rfind("\n$ ") + 1 :]
    reason = next((why for sign, why in signs if re.search(sign, last)), "it ended with an error")
    return f"The set-up stopped in {who}: {reason}. The log is {LOG}"


def _logged(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Runs ``command`` with its output in the log; returns its exit code, 127 when it is not there."""
    with LOG.open("a", encoding="utf-8") as log:
        log.write("\n$ " + " ".join(command) + "\n")
        log.flush()
        try:
            return subprocess.call(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=str(ROOT), env=environment
            )
        except FileNotFoundError as error:
            log.write(str(error) + "\n")
            return 127


def _write_stamp(keys: list[str], missing: list[str]) -> None:
    part = STAMP.with_suffix(".part")
    part.write_text(json.dumps({"home": home(), "keys": keys, "missing": missing}), "utf-8")
    os.replace(str(part), str(STAMP))


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    """Two starts at once must not install into the same folder: the second waits for the first."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with (LOG.parent / "bootstrap.lock").open("a") as lock:
        if os.name == "nt":
            import msvcrt

            lock.seek(0)
            while True:
                with contextlib.suppress(OSError):  # LK_LOCK gives up after ten seconds
                    msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        LOG.write_text("", "utf-8")
        yield


# ---------------------------------------------------------------- commands


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def check_python(version: tuple[int, int]) -> None:
    if version >= OLDEST_PYTHON:
        return
    newer = [f"python3.{minor}" for minor in range(20, OLDEST_PYTHON[1] - 1, -1)]
    found = next((name for name in newer if shutil.which(name)), None)
    hint = f" Start this with {found} instead." if found else ""
    raise SetupError(f"Foley Desktop needs Python 3.11 or newer; this is {version[0]}.{version[1]}.{hint}")


def check_display(environment: Mapping[str, str]) -> None:
    """Qt ends the process with an abort when it finds no screen: a sentence is better."""
    if not sys.platform.startswith("linux") or environment.get("QT_QPA_PLATFORM", "xcb") not in (
        "xcb",
        "wayland",
    ):
        return
    if environment.get("WAYLAND_DISPLAY"):
        return
    hint = "Start it in a desktop session, or under `xvfb-run -a`; the command line works without one."
    display = environment.get("DISPLAY")
    if not display:
        raise SetupError(f"There is no display to open the window on. {hint}")
    with contextlib.suppress(OSError, AttributeError):
        x11 = ctypes.CDLL("libX11.so.6")
        x11.XOpenDisplay.restype = ctypes.c_void_p
        connection = x11.XOpenDisplay(display.encode())
        if not connection:
            raise SetupError(f"The display {display} cannot be opened. {hint}")
        x11.XCloseDisplay(ctypes.c_void_p(connection))


def become(command: Sequence[str]) -> NoReturn:
    """Goes on as ``command``: its exit code is ours, and so are the signals."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def run(arguments: list[str]) -> NoReturn:
    check_display(os.environ)
    provide(for_tests=False)
    # -I: neither PYTHONPATH nor the folder one happens to be in may stand in for one of our modules.
    become([str(PYTHON), "-I", "-m", "foley_desktop", "gui", *arguments])


def test(arguments: list[str]) -> NoReturn:
    provide(for_tests=True)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.chdir(str(ROOT))
    become([str(PYTHON), "-m", "pytest", *arguments])


def setup(arguments: list[str]) -> None:
    if arguments:
        raise SystemExit(usage())
    provide(for_tests=True)
    say(f"Foley Desktop is set up. Start it with: {BIN / 'foley-desktop'}")


def usage() -> int:
    say("\n".join((__doc__ or "").splitlines()[2:5]))
    return 2


def main(arguments: list[str]) -> int:
    commands = {"run": run, "test": test, "setup": setup}
    if not arguments or arguments[0] not in commands:
        return usage()
    try:
        check_python(sys.version_info[:2])
        commands[arguments[0]](arguments[1:])
    except SetupError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"The set-up stopped: {error.strerror or error}: {error.filename or ROOT}.")
        return 1
    except KeyboardInterrupt:
        say("Stopped. The next start takes it up again.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
