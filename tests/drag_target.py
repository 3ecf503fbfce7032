"""Another program, for the drag tests: takes what is dropped on it, and would rather move than copy."""

from __future__ import annotations

import json
import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel


class Target(QLabel):
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.setDropAction(Qt.DropAction.MoveAction)
        event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        raw = bytes(event.mimeData().data("text/uri-list").data())
        document = {
            "uris": raw.decode("ascii"),
            "possible": event.possibleActions().value,
            "action": event.dropAction().value,
        }
        print(json.dumps(document), flush=True)
        event.acceptProposedAction()


def main() -> int:
    application = QApplication([])
    target = Target("drop here")
    target.setAcceptDrops(True)
    target.setGeometry(950, 100, 300, 300)
    target.show()
    print("ready", flush=True)
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
