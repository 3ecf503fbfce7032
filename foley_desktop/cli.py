"""The command line: what scripts and tests drive, and how the window is started.

``--json`` prints one JSON document on stdout and nothing else there; progress and messages go to
stderr. Exit codes: 0 success, 1 failed with a one-sentence reason, 2 wrong usage. Everything heavy is
imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from foley_desktop import __version__
from foley_desktop.errors import FilterError, FoleyError
from foley_desktop.models import MODES

if TYPE_CHECKING:
    from foley_desktop.commands import Context

log = logging.getLogger(__name__)

EMBEDDERS = ("compact", "clap", "hash")
"""Embedders by name; ``clap-…`` are further checkpoints, ``clap:half`` one in half precision."""

DEPTHS = ("16", "24", "32", "float")

_EXCLUSION = re.compile(r"-(?!h$|k=?[0-9]*$)[^-\s]")
_SEARCH_VALUES = ("-k", "--mode", "--where", "--library")


class WrongUsage(Exception):
    """The arguments do not fit the grammar: a sentence, and how it is meant."""

    def __init__(self, sentence: str, usage: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.usage = usage


class _Parser(argparse.ArgumentParser):
    """Leaves it to :func:`main` to say what is wrong, so that JSON mode has its document then, too."""

    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:].rstrip(".") + "."
        raise WrongUsage(sentence, self.format_usage().strip())


def build_parser() -> argparse.ArgumentParser:
    """The whole grammar of the command line.

    Its ``parse_args`` raises :class:`WrongUsage`.
    """
    common = _Parser(add_help=False)
    common.add_argument(
        "--library", metavar="DIR", default=argparse.SUPPRESS, help="the library's data folder"
    )
    common.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document"
    )
    parser = _Parser(
        prog="foley-desktop",
        description="Find, hear and hand over sounds, and measure how good the search is.",
        parents=[common],
    )
    parser.add_argument("--version", action="version", version=f"foley-desktop {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[common])

    gui = command("gui", "open the window (what happens without a command too)")
    gui.add_argument("folders", nargs="*", metavar="FOLDER", help="folders to index in the background")

    models = command("models", "list the embedders; add a checkpoint; choose one")
    actions = models.add_subparsers(dest="action", metavar="add|use")
    add = actions.add_parser("add", help="take a CLAP checkpoint file", parents=[common])
    add.add_argument("file", metavar="FILE")
    use = actions.add_parser("use", help="make an embedder the active one", parents=[common])
    use.add_argument("name", metavar="NAME")

    index = command("index", "scan folders, read tags, embed and index; can be resumed")
    index.add_argument("folders", nargs="+", metavar="FOLDER")
    index.add_argument(
        "--embedder",
        type=_embedder,
        metavar="NAME",
        help=f"the embedder for the sound vectors: {', '.join(EMBEDDERS)}, clap-… or clap:half",
    )
    index.add_argument("--no-audio", action="store_true", help="leave the sound vectors for later")

    search = command("search", "find clips by words and meaning")
    search.add_argument("query", metavar="QUERY")
    _add_result_options(search)
    search.add_argument("--mode", choices=MODES, default="hybrid")
    search.add_argument(
        "--balance", type=_share, metavar="B", help="in hybrid mode from 0, words alone, to 1, sound alone"
    )
    search.add_argument(
        "--show-hidden", action="store_true", help="show clips that only sound like an excluded word"
    )

    similar = command("similar", "find clips that sound alike")
    similar.add_argument("ref", metavar="ID_OR_FILE")
    similar.add_argument("--start", type=float, metavar="S", help="start of the region in seconds")
    similar.add_argument("--end", type=float, metavar="S", help="end of the region in seconds")
    similar.add_argument(
        "--like",
        action="append",
        default=[],
        metavar="ID_OR_FILE",
        help="another sound to be like; repeat it",
    )
    similar.add_argument(
        "--unlike", action="append", default=[], metavar="ID_OR_FILE", help="a sound to be unlike; repeat it"
    )
    similar.add_argument(
        "--words", metavar="TEXT", help="how it should differ: metallic, less wooden, longer"
    )
    similar.add_argument(
        "--strength",
        type=_share,
        default=0.5,
        metavar="S",
        help="from 0, the sound alone, to 1, the words alone",
    )
    _add_result_options(similar)

    evaluate = command("evaluate", "measure the search against a golden set")
    evaluate.add_argument("golden", metavar="GOLDEN.json")
    evaluate.add_argument("--mode", choices=MODES, default="hybrid")
    evaluate.add_argument("-k", type=_positive, default=10, metavar="K", help="metrics at K (default 10)")
    evaluate.add_argument(
        "--embedder", type=_embedder, metavar="NAME", help="with an embedder that is not the active one"
    )
    evaluate.add_argument("--baseline", metavar="B.json", help="compare, and fail below its floor")
    evaluate.add_argument("--save", metavar="B.json", help="save this report as a baseline")
    evaluate.add_argument("--trec", metavar="DIR", help="write qrels.txt and run.txt")

    show = command("show", "every field of a clip, with the sources of its tags")
    show.add_argument("ref", metavar="ID_OR_PATH")

    export = command("export", "render a clip or a region of it into a new file")
    export.add_argument("ref", metavar="ID_OR_PATH")
    export.add_argument("out", metavar="OUT")
    export.add_argument("--start", type=float, metavar="S")
    export.add_argument("--end", type=float, metavar="S")
    export.add_argument("--rate", type=_positive, metavar="HZ")
    export.add_argument("--depth", choices=DEPTHS)
    export.add_argument("--channels", type=_positive, metavar="N")
    export.add_argument("--normalise", type=float, metavar="DB", help="peak level in dBFS")
    export.add_argument("--speed", type=float, metavar="FACTOR", help="tape speed, 1 is unchanged")
    export.add_argument("--reverse", action="store_true")

    doctor = command("doctor", "check and repair the derived indexes, the models and the audio device")
    doctor.add_argument("--rebuild", action="store_true", help="throw the indexes away and rebuild them")
    return parser


def _add_result_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-k", type=_positive, default=10, metavar="K", help="number of results")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="EXPR",
        help="a comparison such as duration<5 or category=DOORS; repeat it to narrow further",
    )


def _embedder(text: str) -> str:
    if text not in EMBEDDERS and not text.startswith(("clap-", "clap:")):
        raise argparse.ArgumentTypeError(f"there is no embedder called {text!r}")
    return text


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1")
    return value


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 up")
    return value


def _with_words_apart(argv: Sequence[str]) -> list[str]:
    """Puts a query that begins with an exclusion, ``search -thunder``, where no option is looked for."""
    words = list(argv)
    if "search" not in words or "--" in words:
        return words
    for at in range(words.index("search") + 1, len(words)):
        if words[at - 1] not in _SEARCH_VALUES and _EXCLUSION.match(words[at]):
            return [*words[:at], *words[at + 1 :], "--", words[at]]
    return words


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code. Never lets a traceback reach the user."""
    words = _with_words_apart(sys.argv[1:] if argv is None else argv)
    try:
        arguments = build_parser().parse_args(words)
    except WrongUsage as error:
        return _refuse(error, as_json="--json" in words)
    arguments.json = getattr(arguments, "json", False)
    library = Path(arguments.library) if hasattr(arguments, "library") else None
    if arguments.command in (None, "gui"):
        return _open_window(library, getattr(arguments, "folders", []))
    from foley_desktop.commands import COMMANDS, Context

    run: Callable[[Context], int] = COMMANDS[arguments.command]
    context = Context(arguments, library)
    try:
        return run(context)
    except FilterError as error:
        context.fail(error)
        return 2
    except FoleyError as error:
        context.fail(error)
        return 1
    except KeyboardInterrupt:
        print("Stopped; what was finished is kept.", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    except Exception as error:
        log.debug("unexpected", exc_info=True)
        context.fail(FoleyError(f"This did not work: {type(error).__name__}: {error}.", cause=error))
        return 1
    finally:
        context.close()


def _refuse(error: WrongUsage, *, as_json: bool) -> int:
    """Says what is wrong with the arguments; in JSON mode with the same document as any failure."""
    print(f"foley-desktop: {error.sentence}\n{error.usage}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": error.sentence, "hint": " ".join(error.usage.split())}))
    return 2


def _open_window(library: Path | None, folders: list[str]) -> int:
    try:
        from foley_desktop.app import run_gui
    except ImportError as error:
        print(
            f"The window cannot open because Qt is not usable here ({error}). "
            "Run: python3 packaging/bootstrap.py setup",
            file=sys.stderr,
        )
        return 1
    try:
        return run_gui(library, folders)
    except FoleyError as error:
        print(f"{error.sentence} {error.hint}".strip(), file=sys.stderr)
        return 1
