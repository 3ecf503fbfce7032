"""Size and arrangement of the window, kept in the settings from one start to the next."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray

from foley_desktop.ui.results_model import COLUMNS

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow

VERSION = 2


def capture(window: MainWindow) -> dict[str, Any]:
    """The arrangement as plain values."""
    return {
        "version": VERSION,
        "geometry": _text(window.saveGeometry()),
        "docks": _text(window.saveState(VERSION)),
        "columns": _text(window.columns.saveState()),
        "listening": _text(window.listening.saveState()),
        "table": _text(window.results.view.horizontalHeader().saveState()),
        "table_columns": [column.name for column in COLUMNS],
        "volume_db": window.deck.transport.volume,
        "golden": window.evaluation.golden.text(),
        "fold_takes": window.results.fold_button.isChecked(),
        "lab": window.lab.capture(),
        "waves": window.deck.waves.capture(),
    }


def restore(window: MainWindow, extra: dict[str, Any]) -> None:
    """Puts a captured arrangement back; one that is broken or of another version is passed over."""
    state = extra.get("window")
    if not isinstance(state, dict) or state.get("version") != VERSION:
        return
    window.restoreGeometry(_bytes(state.get("geometry")))
    window.restoreState(_bytes(state.get("docks")), VERSION)
    window.columns.restoreState(_bytes(state.get("columns")))
    window.listening.restoreState(_bytes(state.get("listening")))
    if state.get("table_columns") == [column.name for column in COLUMNS]:
        window.results.view.restore_columns(_bytes(state.get("table")))
    golden = state.get("golden")
    if isinstance(golden, str):
        window.evaluation.golden.setText(golden)
    window.results.fold_button.setChecked(state.get("fold_takes") is True)
    window.lab.restore(state.get("lab"))
    window.deck.waves.restore(state.get("waves"))
    volume = state.get("volume_db")
    if isinstance(volume, int) and not isinstance(volume, bool):
        window.deck.transport.volume = volume


def _text(data: QByteArray) -> str:
    return base64.b64encode(bytes(data.data())).decode("ascii")


def _bytes(value: object) -> QByteArray:
    if not isinstance(value, str):
        return QByteArray()
    try:
        return QByteArray(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray()
