"""Which parts the window has beside its fixed panels: each wing brings its own panels, keys and connections.

The window builds them in this order once everything fixed is there. A new capability is a new wing, so that
the window itself stays a page of wiring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from foley_desktop.ui.attention_wing import AttentionWing
from foley_desktop.ui.bin_wing import BinWing
from foley_desktop.ui.catalogue_wing import CatalogueWing
from foley_desktop.ui.embedder_wing import EmbedderWing
from foley_desktop.ui.export_desk import ExportDesk
from foley_desktop.ui.inspector_wing import InspectorWing
from foley_desktop.ui.settings_desk import SettingsDesk
from foley_desktop.ui.transfer_wing import TransferWing
from foley_desktop.ui.treatment_wing import TreatmentWing
from foley_desktop.ui.watch_wing import WatchWing
from foley_desktop.ui.wave_wing import WaveWing

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow


class Wing(Protocol):
    """Part of the window, owned by it."""

    def stop(self) -> None:
        """The window closes: no more work is begun."""


def build(window: MainWindow) -> dict[str, Wing]:
    """The wings by name."""
    settings = SettingsDesk(window)
    exports = ExportDesk(window)
    transfer = TransferWing(window, settings, exports)
    return {
        "settings": settings,
        "embedders": EmbedderWing(window, settings),
        "export": exports,
        "transfer": transfer,
        "bin": BinWing(window, transfer, exports),
        "waves": WaveWing(window),
        "treatment": TreatmentWing(window),
        "inspector": InspectorWing(window),
        "catalogue": CatalogueWing(window),
        "watch": WatchWing(window, settings),
        "attention": AttentionWing(window),
    }
