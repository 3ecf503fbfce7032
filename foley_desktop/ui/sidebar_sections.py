"""What stands in the sidebar, section by section, made of an :class:`Overview`."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QTreeWidgetItem

from foley_desktop.library.categories import Category
from foley_desktop.library.shelf import SavedSearch
from foley_desktop.models import Root
from foley_desktop.ui import badges, text
from foley_desktop.ui.chips import condition_words
from foley_desktop.ui.sidebar_tree import KEY, add_item, add_section
from foley_desktop.workers.jobs import Overview

COLLECTION, SAVED = "collection", "saved"

_DROP = "\nDrop sounds here to {}."


def fill(top: QTreeWidgetItem, overview: Overview, font: QFont) -> None:
    """Every section of an overview below ``top``."""
    add_item(
        top, "everything", "All sounds", "library", count=overview.clip_count, tip="Every sound, unfiltered"
    )
    add_item(
        top,
        "favourites",
        "Favourites",
        "heart",
        count=overview.favourites,
        tip="Only the sounds you marked with F",
    )
    folders = add_section(top, "Folders")
    for root in overview.roots:
        add_root(folders, root, font)
    if overview.roots:
        add_collections(top, overview)
        add_saved(top, overview)
        add_categories(top, overview)
        add_faults(top, overview)
    if overview.recent:
        recent = add_section(top, "Recent searches")
        for query in overview.recent:
            add_item(recent, "recent", text.shown(query, 80), "history", value=query, tip=query)


def add_root(folders: QTreeWidgetItem, root: Root, font: QFont) -> None:
    """A folder, with the switch that takes it into searches."""
    state = "" if root.online else "\nNot there now: connect its drive and rescan."
    rejected = (
        f"\n{text.plural(root.rejected_count, 'file')} could not be used" if root.rejected_count else ""
    )
    lock = (
        "Locked: its files are not renamed, written to or thrown away; the menu unlocks it."
        if root.locked
        else "Unlocked: its files may be renamed, written to and thrown away; the menu locks it."
    )
    tip = f"{root.path}{state}{rejected}\nThe box switches the folder in or out of searches.\n{lock}"
    item = add_item(
        folders, "root", text.shown(root.name), "folder", value=root, count=root.clip_count, tip=tip
    )
    item.setData(0, KEY, f"root {root.id}")
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(0, Qt.CheckState.Checked if root.searchable else Qt.CheckState.Unchecked)
    if not root.online:
        slanted = QFont(font)
        slanted.setItalic(True)
        item.setFont(0, slanted)


def add_collections(top: QTreeWidgetItem, overview: Overview) -> None:
    section = add_section(top, "Collections", adds=COLLECTION, tip="The plus makes a new collection.")
    for name, clips in overview.collections:
        add_item(
            section,
            "collection",
            text.shown(name, 80),
            "collection",
            value=name,
            count=clips,
            tip=name + _DROP.format("add them"),
        )
    if not overview.collections:
        add_item(
            section,
            "new collection",
            "Drop sounds here",
            "add",
            tip="A collection is a list of sounds by hand. Drop some here, or press the plus, to make one.",
        )


def add_saved(top: QTreeWidgetItem, overview: Overview) -> None:
    section = add_section(top, "Saved searches", adds=SAVED, tip="The plus saves what is searched for now.")
    for saved in overview.saved:
        add_item(
            section,
            "saved",
            text.shown(saved.name, 80),
            "bookmark",
            value=saved,
            key=f"saved {saved.number}",
            tip=f"{saved.name}\n{saved_words(saved)}",
        )
    if not overview.saved:
        add_item(
            section,
            "save search",
            "Save this search",
            "add",
            tip="Keeps the words, the mode and the filters in force under a name  (Ctrl+Shift+S)",
        )


def saved_words(saved: SavedSearch) -> str:
    """What a saved search asks, in one line."""
    parts = [f"“{text.shown(saved.text, 100)}”"] if saved.text else []
    parts += [condition_words(condition) for condition in saved.filters.conditions]
    return " · ".join(parts)


def add_categories(top: QTreeWidgetItem, overview: Overview) -> None:
    section = add_section(top, "Categories")
    if overview.unlabelled:
        add_item(
            section,
            "category",
            "No category",
            "category",
            value=("", "", ""),
            count=overview.unlabelled,
            tip="Sounds without a category. A right click suggests one for each  (Ctrl+Shift+C).",
        )
    for category in overview.categories:
        _add_category(section, category)


def _add_category(section: QTreeWidgetItem, category: Category) -> None:
    parent = add_item(
        section,
        "category",
        text.shown(category.name),
        "",
        value=(category.name, "", ""),
        count=category.clips,
        tip=f"{category.name}\n{text.plural(category.clips, 'sound')}"
        + ("" if category.known else "\nNot a category of the UCS"),
    )
    for branch in category.branches:
        if not branch.subcategory:
            continue
        sets = _DROP.format("give them this category") if branch.catid else ""
        add_item(
            parent,
            "category",
            text.shown(branch.subcategory),
            "",
            value=(category.name, branch.subcategory, branch.catid),
            count=branch.clips,
            tip=f"{category.name} / {branch.subcategory}\n{branch.catid or 'Not of the UCS'}{sets}",
        )


def add_faults(top: QTreeWidgetItem, overview: Overview) -> None:
    """Files with faults by kind, and those that could not be used at all."""
    if not overview.badges and not overview.unusable:
        return
    section = add_section(top, "Damage")
    for code, clips in overview.badges:
        add_item(
            section,
            "badge",
            badges.words(code).capitalize(),
            "warning",
            value=code,
            count=clips,
            tip=badges.meaning(code),
        )
    if overview.unusable:
        add_item(
            section,
            "unusable",
            "Could not be used",
            "close",
            count=overview.unusable,
            tip="Files that were refused or have gone, with the reasons; they can be tried again.",
        )


Menu = list[tuple[str, Callable[[], object]] | None]
"""Entries of a context menu: label and what it does; None is a line between two groups."""


def menu_of(kind: str, value: object, ask: Callable[[str, object], object]) -> Menu:
    """What a right click on a row of collections, saved searches, categories or faults offers."""

    def entry(label: str, action: str) -> tuple[str, Callable[[], object]]:
        return label, lambda: ask(action, value)

    if kind == "collection":
        return [
            entry("Add the selected sounds", "collection.add"),
            entry("Rename …", "collection.rename"),
            entry("Deliver …", "collection.deliver"),
            None,
            entry("Delete the collection", "collection.delete"),
        ]
    if kind == "saved":
        return [
            entry("Rename …", "saved.rename"),
            entry("Replace by what is searched for now", "saved.replace"),
            None,
            entry("Delete the saved search", "saved.delete"),
        ]
    if kind == "category" and value == ("", "", ""):
        return [entry("Suggest categories …", "categories.suggest")]
    if kind == "unusable":
        return [entry("Show the files …", "unusable.show")]
    return []
