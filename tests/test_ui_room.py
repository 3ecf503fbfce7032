"""The window fits small screens, whatever stands open beside the results."""

from __future__ import annotations

import pytest
from ui_support import Desk

pytestmark = pytest.mark.gui


@pytest.mark.parametrize("beside", ["none", "evaluation", "inspector_dock"])
def test_it_fits_a_small_screen(desk: Desk, beside: str) -> None:
    window = desk.window
    if beside == "evaluation":
        window.evaluation.show()
    elif beside == "inspector_dock":
        window.wings["inspector"].toggle()
    desk.wait(lambda: window.minimumSizeHint().width() <= 1280)
    assert window.minimumSizeHint().height() <= 720
    window.resize(1280, 720)
    desk.wait(lambda: (window.width(), window.height()) == (1280, 720))
    assert window.deck.waveform.width() > 300


def test_buttons_fold_before_the_window_grows(desk: Desk) -> None:
    bar = desk.window.search_bar
    bar.resize(1200, bar.height())
    full = bar.filter_button.sizeHint().width()
    bar.setFixedWidth(bar.minimumSizeHint().width())
    desk.wait(lambda: bar.filter_button.width() < full)
    assert bar.filter_button.toolTip()
    bar.setMaximumWidth(16_777_215)
    bar.setMinimumWidth(0)
    desk.wait(lambda: bar.filter_button.width() >= full)
