"""A push button that opens a menu made at that moment, so that it always says how things stand."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QPushButton

from foley_desktop.ui import icons, text, theme


class MenuButton(QPushButton):
    """``fill`` puts the entries into the menu each time it is opened."""

    def __init__(self, label: str, tip: str, fill: Callable[[QMenu], object]) -> None:
        super().__init__(label)
        self._fill = fill
        self.setToolTip(tip)
        self.setAutoDefault(False)
        theme.mark(self, "menu")
        self.clicked.connect(lambda _=False: self.open_menu())

    def open_menu(self) -> QMenu:
        """Opens the menu below the button."""
        menu = self.make_menu()
        menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))
        return menu

    def make_menu(self) -> QMenu:
        """The menu as it is now."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        self._fill(menu)
        return menu

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        area = QRectF(self.width() - 18, (self.height() - 12) / 2, 12, 12)
        icons.paint(painter, "chevron", area, theme.colour("dim" if self.isEnabled() else "faint"))
        painter.end()


def plain(words: str, limit: int = 80) -> str:
    """Words of anyone's for a menu entry: what is an ampersand there stays one."""
    return text.shown(words, limit).replace("&", "&&")
