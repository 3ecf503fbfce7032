"""Tells the window that words of clips have changed, wherever that was done."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from foley_desktop.ui.inspector_wing import InspectorWing

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


def _inspector(window: MainWindow) -> InspectorWing:
    wing = window.wings["inspector"]
    assert isinstance(wing, InspectorWing)
    return wing


def after_edit(window: MainWindow, ids: Collection[str] = ()) -> None:
    """The table, the sidebar, the deck, the inspector and its steps are brought up to date.

    Args:
        ids: The clips that changed, where they are known.
    """
    _inspector(window).after_change(list(ids))


def look(window: MainWindow) -> None:
    """The inspector looks at the sound in hand."""
    _inspector(window).look()
