"""A small library with conflicting labels, and words for what a librarian does in its window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import audio_files as make
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton
from ui_support import Desk, index, middle, use_hash_embedder, write_clip

CREAK, SLAM, GATE, FLAC, CUT = "Door Creak.wav", "Door Slam.wav", "Gate.wav", "floor board.flac", "Cut.wav"
NAMES = (CUT, CREAK, SLAM, FLAC, GATE)


def make_sounds(folder: Path) -> None:
    """Five files: one with three descriptions, one cut short, one without a word."""
    folder.mkdir(parents=True)
    ixml = (
        b"<BWFXML><USER><DESCRIPTION>Old wooden door, close</DESCRIPTION><CATID>DOORCreak</CATID>"
        b"<LIBRARY>Barn</LIBRARY></USER><TRACK_LIST><TRACK><NAME>Boom</NAME></TRACK>"
        b"<TRACK><NAME>Plant</NAME></TRACK></TRACK_LIST></BWFXML>"
    )
    data = [make.chunk(b"data", make.pcm(16, make.sweep(0.1 + 0.05 * n, 48000))) for n in range(3)]
    (folder / CREAK).write_bytes(
        make.riff(
            make.bext(b"Old wooden door"),
            make.fmt(rate=48000),
            data[0],
            make.info((b"ICMT", b"Door"), (b"INAM", b"Creak\0")),
            make.chunk(b"iXML", ixml),
        )
    )
    (folder / SLAM).write_bytes(
        make.riff(make.fmt(rate=48000), data[1], make.info((b"ICMT", b"Door slams"), (b"INAM", b"Slam\0\0")))
    )
    (folder / GATE).write_bytes(make.riff(make.fmt(rate=48000), data[2]))
    (folder / CUT).write_bytes(
        make.riff(make.fmt(rate=48000), make.chunk(b"data", make.pcm(16), size=960_000))
    )
    write_clip(folder / FLAC.replace("flac", "wav"), 0.2, seed=9)
    import soundfile

    samples, rate = soundfile.read(folder / FLAC.replace("flac", "wav"))
    soundfile.write(folder / FLAC, samples, rate)
    (folder / FLAC.replace("flac", "wav")).unlink()


def make_library(base: Path) -> Path:
    """The folder of an indexed library of :func:`make_sounds`."""
    make_sounds(base / "sounds")
    use_hash_embedder(base / "library")
    index(base / "library", base / "sounds")
    return base / "library"


class Librarian(Desk):
    """A window whose inspector is open."""

    def __init__(self, qtbot: Any, library: Path) -> None:
        super().__init__(qtbot, library)
        self.wait_listed(len(NAMES))
        self.wait(lambda: self.inspector._steps is not None)

    @property
    def inspector(self) -> Any:
        return self.window.wings["inspector"]

    @property
    def panel(self) -> Any:
        return self.inspector.panel

    def editor(self, field: str) -> Any:
        return self.panel.rows[field].editor

    def clip(self, name: str) -> Any:
        return self.service.catalog.find(name)

    def select(self, *names: str) -> None:
        """Clicks rows of the table, and waits until the inspector shows them."""
        for number, name in enumerate(names):
            held = Qt.KeyboardModifier.ControlModifier if number else Qt.KeyboardModifier.NoModifier
            place = middle(self.view, self.names().index(name), 1)
            QTest.mouseClick(self.view.viewport(), Qt.MouseButton.LeftButton, held, place)
        if self.panel.isVisible():
            self.wait_inspected(*names)

    def wait_inspected(self, *names: str) -> None:
        ids = {self.clip(name).id for name in names}
        self.wait(lambda: set(self.panel.ids) == ids)

    def inspect(self, *names: str) -> None:
        """Selects rows and opens the inspector with its key."""
        self.select(*names)
        if not self.panel.isVisible():
            QTest.keyClick(self.view, Qt.Key.Key_I)
        self.wait_inspected(*names)

    def edit(self, field: str, value: str, *, enter: bool = True) -> None:
        """Types a value into a field."""
        editor = self.editor(field)
        editor.setFocus()
        editor.selectAll()
        QTest.keyClicks(editor, value)
        if enter:
            QTest.keyClick(editor, Qt.Key.Key_Return)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Presses a key on the table."""
        self.view.setFocus()
        QTest.keyClick(self.view, key, modifiers)

    def dialog(self, kind: type[QDialog]) -> Any:
        """The open dialog of a kind, once it is there."""

        def find() -> list[QDialog]:
            return [found for found in self.window.findChildren(kind) if found.isVisible()]

        self.wait(find)
        return find()[-1]

    def press_button(self, dialog: QDialog, label: str) -> None:
        """Clicks the button that begins with ``label``."""
        (button,) = [b for b in dialog.findChildren(QPushButton) if b.text().startswith(label)]
        assert button.isEnabled(), f"{label} is not enabled"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def said(self) -> list[str]:
        return [toast.label.text() for toast in self.window.messages.toasts]

    def unlock(self) -> None:
        """Unlocks the folder without asking."""
        self.service.desk.set_root_locked(self.service.roots()[0].id, False)
