"""The look of the window: one palette, one type scale, one style sheet.

Colours carry meaning and are named for it, so that a panel never invents one. Each ranker has its
own colour, the same in the score bars, in tooltips and in the Evaluation panel.
"""

from __future__ import annotations

from string import Template

from PySide6.QtCore import QObject
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

COLOURS = {
    "window": "#0f1215",
    "panel": "#14181c",
    "stripe": "#171c20",
    "bar": "#191e23",
    "raised": "#222931",
    "hover": "#2a323b",
    "line": "#262d34",
    "edge": "#37414b",
    "text": "#dce2e8",
    "dim": "#93a0ad",
    "faint": "#64707c",
    "accent": "#45c8b4",
    "accent_text": "#07211d",
    "selection": "#1d4a48",
    "selection_idle": "#263339",
    "amber": "#f2ae53",
    "red": "#ee7072",
    "blue": "#74aefb",
    "violet": "#b694f2",
    "wave": "#3a8f86",
    "wave_core": "#62d3c3",
    "played": "#b9853f",
    "played_core": "#f5c078",
}

RANKER_COLOURS = {
    "audio": "accent",
    "keyword": "amber",
    "semantic": "blue",
    "meaning": "blue",
    "likeness": "accent",
}

ROW_HEIGHT = 24
GAP = 8

_FAMILIES = ("Inter", "Segoe UI", ".AppleSystemUIFont", "Noto Sans", "Cantarell", "DejaVu Sans")


def colour(name: str, alpha: int = 255) -> QColor:
    """The palette's colour of that name."""
    found = QColor(COLOURS[name])
    found.setAlpha(alpha)
    return found


def ranker_colour(ranker: str) -> QColor:
    """The colour that stands for a ranker everywhere."""
    return colour(RANKER_COLOURS.get(ranker, "violet"))


def apply(application: QApplication) -> None:
    """Dresses the whole application; calling it twice changes nothing."""
    if application.property("foley_theme"):
        return
    application.setProperty("foley_theme", True)
    application.setStyle(QStyleFactory.create("Fusion"))
    application.setPalette(_palette())
    application.setFont(_font())
    application.setStyleSheet(Template(_SHEET).substitute(COLOURS))


def digits_font(base: QFont) -> QFont:
    """``base`` with figures that all have one width, so that columns of numbers stand still."""
    font = QFont(base)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def mark(widget: QObject, role: str) -> None:
    """Gives a widget a role that the style sheet knows, such as ``primary`` or ``title``."""
    widget.setProperty("role", role)


def _font() -> QFont:
    known = set(QFontDatabase.families())
    font = QApplication.font()
    for family in _FAMILIES:
        if family in known:
            font.setFamilies([family])
            break
    font.setPixelSize(13)
    return font


def _palette() -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    for target, name in (
        (role.Window, "window"),
        (role.WindowText, "text"),
        (role.Base, "panel"),
        (role.AlternateBase, "stripe"),
        (role.Text, "text"),
        (role.Button, "raised"),
        (role.ButtonText, "text"),
        (role.BrightText, "red"),
        (role.ToolTipBase, "raised"),
        (role.ToolTipText, "text"),
        (role.PlaceholderText, "faint"),
        (role.Highlight, "selection"),
        (role.HighlightedText, "text"),
        (role.Link, "accent"),
        (role.Mid, "line"),
        (role.Dark, "window"),
        (role.Light, "edge"),
    ):
        palette.setColor(target, colour(name))
    for target in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, target, colour("faint"))
    return palette


_SHEET = """
QToolTip { background: $raised; color: $text; border: 1px solid $edge; padding: 5px 7px; }
QMainWindow::separator { background: $window; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: $selection; }
QSplitter::handle { background: $window; }
QSplitter::handle:hover { background: $selection; }

QLabel[role="dim"] { color: $dim; }
QLabel[role="faint"] { color: $faint; }
QLabel[role="wrong"] { color: $red; }
QLabel[role="heading"] { color: $faint; font-size: 11px; font-weight: 600; letter-spacing: 1px; }
QLabel[role="title"] { font-size: 14px; font-weight: 600; }
QLabel[role="hero"] { font-size: 27px; font-weight: 600; }
QLabel[role="lead"] { color: $dim; font-size: 15px; }
QLabel[role="small"] { color: $dim; font-size: 11px; }
QLabel[role="figure"] { font-size: 20px; font-weight: 600; }
QLabel[role="brand"] { color: $accent; font-size: 16px; font-weight: 700; letter-spacing: 1px; }
QLabel[role="key"] { background: $raised; border: 1px solid $edge; border-bottom-width: 2px;
    border-radius: 4px;
    padding: 1px 7px; color: $text; font-size: 12px; }

QWidget[role="bar"] { background: $bar; }
QWidget[role="panel"] { background: $panel; }
QFrame[role="card"] { background: $bar; border: 1px solid $line; border-radius: 8px; }
QFrame[role="tile"] { background: $bar; border: 1px solid $line; border-radius: 6px; }
QFrame[role="tile-error"] { background: #2d1d20; border: 1px solid $red; border-radius: 6px; }
QFrame[role="rule"] { background: $line; border: 0; }

QLineEdit { background: $panel; border: 1px solid $edge; border-radius: 5px; padding: 3px 7px;
    selection-background-color: $accent; selection-color: $accent_text; }
QLineEdit:focus { border-color: $accent; }
QLineEdit:disabled { color: $faint; }
QLineEdit#search_box { font-size: 16px; padding: 6px 10px; border-radius: 7px; background: $window; }

QPushButton, QToolButton { background: $raised; border: 1px solid $edge; border-radius: 5px;
    padding: 4px 11px; }
QPushButton:hover, QToolButton:hover { background: $hover; border-color: $faint; }
QPushButton:pressed, QToolButton:pressed { background: $line; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled, QToolButton:disabled { color: $faint; background: $bar; border-color: $line; }
QPushButton[role="primary"] { background: $accent; border-color: $accent; color: $accent_text;
    font-weight: 600; }
QPushButton[role="primary"]:hover { background: #5fd8c5; }
QPushButton[role="primary"]:disabled { background: $raised; border-color: $line; color: $faint; }
QPushButton[role="large"] { padding: 9px 20px; font-size: 14px; }
QPushButton[role="primary-large"] { background: $accent; border-color: $accent; color: $accent_text;
    font-weight: 600; padding: 9px 20px; font-size: 14px; }
QPushButton[role="primary-large"]:hover { background: #5fd8c5; }
QPushButton[role="primary-large"]:focus, QPushButton[role="primary"]:focus { border-color: $text; }
QToolButton { padding: 4px; }
QToolButton[role="flat"] { background: transparent; border-color: transparent; }
QToolButton[role="flat"]:hover { background: $hover; }
QToolButton[role="flat"]:checked { background: $selection; border-color: transparent; }
QToolButton[role="labelled"] { padding: 4px 10px 4px 8px; }
QToolButton:checked { background: $selection; border-color: $accent; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton[role="round"] { border-radius: 17px; background: $accent; border-color: $accent; padding: 0; }
QToolButton[role="round"]:hover { background: #5fd8c5; }
QToolButton[role="round"]:disabled { background: $raised; border-color: $line; }

QFrame[role="chip"] { background: $raised; border: 1px solid $edge; border-radius: 11px; }
QFrame[role="chip-accent"] { background: $selection; border: 1px solid $accent; border-radius: 11px; }
QFrame[role="chip-unlike"] { background: #3a2226; border: 1px solid $red; border-radius: 11px; }
QToolButton[role="chip-close"] { background: transparent; border: 0; padding: 0; border-radius: 7px; }
QToolButton[role="chip-close"]:hover { background: $edge; }
QPushButton[role="chip-new"] { background: $accent; border-color: $accent; color: $accent_text;
    font-weight: 600;
    border-radius: 11px; padding: 2px 11px; }

QComboBox, QSpinBox, QDoubleSpinBox { background: $raised; border: 1px solid $edge; border-radius: 5px;
    padding: 3px 8px; min-height: 18px; }
QComboBox:hover, QSpinBox:hover, QDoubleSpinBox:hover { border-color: $faint; }
QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus { border-color: $accent; }
QComboBox::drop-down { border: 0; width: 20px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $edge;
    selection-background-color: $selection;
    outline: 0; padding: 3px; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button,
QDoubleSpinBox::down-button { width: 0; border: 0; }
QMenu { background: $raised; border: 1px solid $edge; padding: 4px; }
QMenu::item { padding: 5px 26px 5px 14px; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $faint; }
QMenu::separator { height: 1px; background: $edge; margin: 4px 6px; }

QTableView, QTreeView { background: $panel; alternate-background-color: $stripe; border: 0; outline: 0;
    selection-background-color: $selection; selection-color: $text; }
QTableView::item { padding: 0 6px; border: 0; }
QTableView::item:selected { background: $selection; color: $text; }
QTableView::item:selected:!active { background: $selection_idle; }
QTreeView::item { padding: 2px 2px; border: 0; }
QTreeView::item:hover { background: $raised; }
QTreeView::item:selected { background: $selection; color: $text; }
QTreeView::branch { background: transparent; }
QTreeView::indicator, QTableView::indicator, QMenu::indicator, QCheckBox::indicator {
    width: 11px; height: 11px; border: 1px solid $faint;
    border-radius: 3px; background: $window; }
QTreeView::indicator:checked, QTableView::indicator:checked, QMenu::indicator:checked,
QCheckBox::indicator:checked {
    background: $accent; border-color: $accent; }
QTreeView::indicator:hover, QTableView::indicator:hover, QCheckBox::indicator:hover { border-color: $text; }
QRadioButton::indicator {
    width: 11px; height: 11px; border: 1px solid $faint;
    border-radius: 6px; background: $window; }
QRadioButton::indicator:checked { border: 4px solid $accent; width: 5px; height: 5px; }
QRadioButton::indicator:hover { border-color: $text; }
QMenu::indicator { margin-left: 7px; }
QHeaderView { background: $bar; border: 0; }
QHeaderView::section { background: $bar; color: $dim; border: 0; border-right: 1px solid $line;
    border-bottom: 1px solid $line; padding: 4px 6px; font-size: 12px; }
QHeaderView::section:hover { color: $text; background: $raised; }
QTableCornerButton::section { background: $bar; border: 0; }

QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $edge; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QProgressBar { background: $window; border: 0; border-radius: 3px; max-height: 6px; min-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSlider::groove:horizontal { height: 4px; background: $edge; border-radius: 2px; }
QSlider::sub-page:horizontal { background: $wave; border-radius: 2px; }
QSlider::handle:horizontal { width: 12px; height: 12px; margin: -4px 0; border-radius: 6px;
    background: $text; }

QStatusBar { background: $bar; border-top: 1px solid $line; color: $dim; }
QStatusBar::item { border: 0; }
QDockWidget { color: $dim; font-weight: 600; }
QDockWidget::title { background: $bar; padding: 6px 10px; text-align: left; }
QCheckBox, QRadioButton { spacing: 6px; }

QFrame[role="banner"] { background: #2c2617; border: 0; border-bottom: 1px solid #51431f; }
QFrame[role="banner"] QLabel { color: #f0d7a4; }
QFrame[role="notice"] { background: #17242b; border: 0; border-bottom: 1px solid #24404c; }
QFrame[role="notice"] QLabel { color: #b8d4e4; }
QFrame[role="grading"] { background: #1c2530; border: 0; border-bottom: 2px solid $blue; }
QLabel[role="grading-heading"] { color: $blue; font-size: 11px; font-weight: 700; letter-spacing: 1px; }
QPushButton[role="grade-0"] { border-color: $red; }
QPushButton[role="grade-1"] { border-color: $amber; }
QPushButton[role="grade-2"] { border-color: $accent; }
QPushButton[role="menu"] { padding-right: 22px; }
QToolButton[role="mode"] { padding: 3px 7px 3px 5px; color: $dim; background: transparent;
    border-color: $line; }
QToolButton[role="mode"]:checked { background: $raised; border-color: $edge; color: $text; }
QTabWidget::pane { border: 0; border-top: 1px solid $line; }
QTabBar { background: $bar; }
QTabBar::tab { background: transparent; color: $dim; padding: 6px 13px 5px 13px; border: 0;
    border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:focus { color: $accent; }
QScrollArea, QScrollArea > QWidget > QWidget { background: $panel; }
QFrame[role="toast"] { background: $raised; border: 1px solid $edge; border-radius: 7px; }
QFrame[role="toast-error"] { background: #2d1d20; border: 1px solid $red; border-radius: 7px; }
QFrame[role="help"] { background: $bar; border: 1px solid $edge; border-radius: 10px; }
QPlainTextEdit { background: $window; border: 1px solid $line; border-radius: 5px; font-family: monospace;
    font-size: 12px; }
QDialog { background: $bar; border: 1px solid $edge; }
QLabel[role="warn"] { color: $amber; font-size: 12px; }
QLabel[role="note"] { color: $amber; font-size: 10px; }
QLabel[role="good"] { color: $accent; }
QLineEdit[role="field"] { padding: 2px 6px; border-color: $line; background: $window; }
QLineEdit[role="field"]:hover, QPlainTextEdit[role="field"]:hover { border-color: $edge; }
QLineEdit[role="field"]:focus, QPlainTextEdit[role="field"]:focus { border-color: $accent; }
QLineEdit[role="field"]:read-only { background: transparent; border-color: transparent; }
QPlainTextEdit[role="field"] { background: $window; border: 1px solid $line; border-radius: 5px;
    padding: 0 2px; font-family: "Inter", "Segoe UI", "Noto Sans", "DejaVu Sans"; font-size: 13px; }
QToolButton[role="section"] { background: transparent; border: 0; color: $faint; font-size: 11px;
    font-weight: 600; letter-spacing: 1px; padding: 5px 8px 3px 8px; }
QToolButton[role="section"]:hover { color: $text; }
"""
