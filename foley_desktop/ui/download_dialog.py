"""Asks before anything is fetched: what, from where, how large, under which licence, and is there room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from foley_desktop.library.checkpoints import Fetchable, Market
from foley_desktop.ui import buttons, text

UNCHECKED = "No checksum of this file is known here, so it can only be checked for being whole."


class DownloadDialog(QDialog):
    """``agreed(file, address)`` is the user's agreement; an empty address stands for the publisher."""

    agreed = Signal(str, str)

    def __init__(self, parent: QWidget, market: Market) -> None:
        super().__init__(parent)
        self.setObjectName("download_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Download CLAP weights")
        self.resize(QSize(620, 360))
        self._market = market
        self.choice = buttons.Choice()
        self.choice.setObjectName("download_file")
        self.choice.setToolTip("Which of the published checkpoints")
        for one in market.files:
            self.choice.addItem(f"{one.file} · {one.suits}", one.file)
        self.choice.activated.connect(lambda _: self._show())
        self.address = QLineEdit(market.address)
        self.address.setObjectName("download_address")
        self.address.setPlaceholderText(f"{market.publisher} (the publisher)")
        self.address.setToolTip("A mirror that has the same files under the same names; empty: the publisher")
        self.address.textChanged.connect(lambda _: self._show())
        self.facts = QGridLayout()
        self.facts.setHorizontalSpacing(14)
        self.facts.setVerticalSpacing(5)
        self.facts.setColumnStretch(1, 1)
        self.warning = buttons.words("", "warn", wrap=True)
        self.warning.setObjectName("download_warning")
        self.accept_button = buttons.push(
            "", "Begin to fetch; it can be stopped and taken up again", self._agree, "primary"
        )
        self.accept_button.setObjectName("download_agree")
        self._lay_out()
        self._show()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for row, (label, widget) in enumerate((("Checkpoint", self.choice), ("Mirror", self.address))):
            grid.addWidget(buttons.words(label, "dim"), row, 0)
            grid.addWidget(widget, row, 1)
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(buttons.push("Cancel", "Fetch nothing", self.reject))
        line.addWidget(self.accept_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(buttons.words("Fetch LAION-CLAP's weights?", "title"))
        said = "Nothing is fetched before you agree. No account is needed, and nothing about you is sent."
        column.addWidget(buttons.words(said, "dim", wrap=True))
        column.addLayout(grid)
        column.addLayout(self.facts)
        column.addWidget(self.warning)
        column.addStretch(1)
        column.addLayout(line)

    @property
    def _file(self) -> Fetchable:
        return next(one for one in self._market.files if one.file == self.choice.currentData())

    def _address(self) -> str:
        return self.address.text().strip()

    def _show(self) -> None:
        one, market = self._file, self._market
        base = self._address().rstrip("/") + "/" if self._address() else market.publisher
        tokenizer = base if self._address() else market.tokenizer
        enough = market.free_bytes >= one.needed_bytes
        held = f", of which {size(one.held_bytes)} are here already" if one.held_bytes else ""
        facts = (
            ("From", base + one.file),
            ("and", f"{tokenizer}vocab.json and merges.txt, 1.4 MB, unless they are here"),
            ("Size", f"about {size(one.about_bytes)}{held}"),
            ("Licence", one.licence),
            ("Room", f"{size(market.free_bytes)} free in {market.folder}, {size(one.needed_bytes)} needed"),
        )
        while self.facts.count():
            item = self.facts.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for row, (label, words) in enumerate(facts):
            self.facts.addWidget(buttons.words(label, "dim"), row, 0, Qt.AlignmentFlag.AlignTop)
            self.facts.addWidget(buttons.words(text.shown(words, 300), wrap=True), row, 1)
        bad = bool(self._address()) and not self._address().lower().startswith(("https://", "http://"))
        plain = self._address().lower().startswith("http://")
        warnings = [
            "A mirror's address begins with https://" if bad else "",
            "" if enough else "There is not enough room for it.",
            "" if one.checked else UNCHECKED,
            "The connection to this mirror is not encrypted." if plain else "",
        ]
        self.warning.setText(" ".join(filter(None, warnings)))
        self.warning.setVisible(any(warnings))
        self.accept_button.setText("Go on fetching" if one.held_bytes else f"Fetch {size(one.about_bytes)}")
        self.accept_button.setEnabled(enough and not bad)

    def _agree(self) -> None:
        self.agreed.emit(self.choice.currentData(), self._address())
        self.accept()


def size(count: int) -> str:
    """Bytes as ``1.9 GB`` or ``640 MB``."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
