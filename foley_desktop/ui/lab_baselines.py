"""What a measurement is held against: a baseline of the set, or nothing."""

from __future__ import annotations

import time
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QWidget

from foley_desktop.ui import buttons, text
from foley_desktop.ui.menu_button import MenuButton
from foley_desktop.workers.lab_jobs import Saved, Shelf

_ACTIONS: tuple[tuple[str, str, str], ...] = (
    ("about_baseline", "About this baseline …", "Date, set, embedder, fusion, library"),
    ("delete_baseline", "Delete …", "Forget this baseline"),
    ("export_baseline", "Export for the command line …", "A file a mode, for evaluate --baseline"),
    ("export_run", "Export as TREC runs …", "A run file a mode"),
    ("", "", ""),
    ("import_baseline", "Import a baseline …", "A file of evaluate --save, or of another library"),
    ("import_run", "Import a TREC run …", "What another search answered, to be compared with"),
)
_FOR_ANY = frozenset({"import_baseline", "import_run"})


class BaselineBar(QWidget):
    """``chosen(name)`` is the baseline to compare with, empty for none; ``wanted(name)`` what to do."""

    chosen = Signal(str)
    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shelf = Shelf()
        self.choice: QComboBox = buttons.Choice()
        self.choice.setObjectName("lab_baseline")
        self.choice.setToolTip("What the measurement is compared with")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(12)
        self.choice.activated.connect(lambda _: self.chosen.emit(self.name))
        self.save_button = buttons.push(
            "Save …", "Keep this measurement to compare later ones with",
            lambda: self.wanted.emit("save_baseline"),
        )  # fmt: skip
        self.save_button.setObjectName("lab_save_baseline")
        self.save_button.setEnabled(False)
        self.menu_button = MenuButton("Baseline", "About, delete, export, import", self._fill)
        self.menu_button.setObjectName("lab_baseline_menu")
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(buttons.words("Compare with", "dim"))
        line.addWidget(self.choice, 1)
        line.addWidget(self.save_button)
        line.addWidget(self.menu_button)

    @property
    def name(self) -> str:
        """The baseline that is chosen, empty for none."""
        return self.choice.currentData() or ""

    @property
    def saved(self) -> Saved | None:
        return next((one for one in self._shelf.baselines if one.name == self.name), None)

    def show_shelf(self, shelf: Shelf) -> None:
        """Lists the baselines of the set in hand; what was chosen stays so."""
        name, same = self.name, _set_id(self._shelf) == _set_id(shelf)
        self._shelf = shelf
        self.choice.clear()
        self.choice.addItem("nothing", "")
        for one in shelf.baselines:
            self.choice.addItem(_label(one), one.name)
            tip = text.plain_tooltip("\n".join(about(one)))
            self.choice.setItemData(self.choice.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.choose(name if same else "")

    def choose(self, name: str) -> None:
        """Chooses without saying so."""
        self.choice.setCurrentIndex(max(0, self.choice.findData(name)))

    def _fill(self, menu: QMenu) -> None:
        for name, label, tip in _ACTIONS:
            if not name:
                menu.addSeparator()
                continue
            action = menu.addAction(label, partial(self.wanted.emit, name))
            action.setToolTip(tip)
            usable = self.saved is not None or name in _FOR_ANY
            action.setEnabled(usable and self._shelf.current is not None)


def _set_id(shelf: Shelf) -> str:
    return shelf.current.id if shelf.current else ""


def _label(saved: Saved) -> str:
    hybrid = saved.modes.get("hybrid")
    figure = f" · hybrid nDCG@{hybrid.k} {hybrid.ndcg:.3f}" if hybrid else ""
    return f"{text.shown(saved.name, 40)} · {day(saved.saved_s)}{figure}"


def day(seconds: float) -> str:
    """A moment as ``2025-11-30 19:54``, in the user's own time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def about(saved: Saved) -> list[str]:
    """Everything a baseline says of itself, a line each."""
    one = next(iter(saved.modes.values()))
    size = "unknown" if one.library_size is None else text.count(one.library_size)
    lines = [
        f"Baseline {saved.name}",
        f"saved {day(saved.saved_s)}",
        f"golden set hash {one.golden_hash}",
        f"embedder {one.embedder}",
        f"fusion {one.fusion}",
        f"library of {size} clips",
    ]
    lines += [f"{mode}: mean nDCG@{info.k} {info.ndcg:.4f}" for mode, info in saved.modes.items()]
    return lines
