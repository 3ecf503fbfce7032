"""What the tests of handing over share: a program that takes drags, and selecting a sound by name."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from ui_support import Desk

from foley_desktop.ui import drag
from foley_desktop.ui.drag import dropped_paths


class Receiver:
    """Stands for the other program of a drag: what it got, and what it answers."""

    def __init__(self) -> None:
        self.got: list[list[str]] = []
        self.answer = Qt.DropAction.CopyAction

    @classmethod
    def instead(cls, monkeypatch: pytest.MonkeyPatch) -> Receiver:
        """One that takes every drag of the window until the test ends."""
        receiver = cls()
        monkeypatch.setattr(drag, "QDrag", receiver.drag)
        return receiver

    def drag(self, source: object) -> Any:
        receiver = self

        class Drag:
            def setMimeData(self, data: Any) -> None:
                self.paths, _ = dropped_paths(data)

            def setPixmap(self, pixmap: object) -> None: ...
            def setHotSpot(self, point: object) -> None: ...
            def target(self) -> None: ...

            def exec(self, *actions: Any) -> Qt.DropAction:
                receiver.got.append(self.paths)
                return receiver.answer

        return Drag()


def choose_row(desk: Desk, name: str) -> Any:
    row = desk.names().index(name)
    desk.view.setFocus()
    desk.view.selectRow(row)
    clip = desk.model.clip_at(row)
    desk.wait(lambda: desk.window.deck.clip is not None and desk.window.deck.clip.id == clip.id)
    return clip
