"""A file manager on the session bus, as far as the application asks one: prints what it is to show."""

from __future__ import annotations

from PySide6.QtCore import ClassInfo, QCoreApplication, QObject, QTimer, Slot
from PySide6.QtDBus import QDBusConnection


@ClassInfo({"D-Bus Interface": "org.freedesktop.FileManager1"})
class FileManager(QObject):
    @Slot("QStringList", str)
    def ShowItems(self, urls: list[str], startup_id: str) -> None:
        print(*urls, flush=True)
        QTimer.singleShot(0, QCoreApplication.quit)


def main() -> None:
    application = QCoreApplication([])
    manager, bus = FileManager(), QDBusConnection.sessionBus()
    bus.registerObject(
        "/org/freedesktop/FileManager1", manager, QDBusConnection.RegisterOption.ExportAllSlots
    )
    bus.registerService("org.freedesktop.FileManager1")
    print("ready", flush=True)
    QTimer.singleShot(20_000, application.quit)
    application.exec()


if __name__ == "__main__":
    main()
