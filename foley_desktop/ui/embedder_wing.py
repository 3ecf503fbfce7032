"""The embedders as a part of the window: one listens, both are compared, the user says which one stays.

The strip tells what waits for the user's word, the Evaluation panel compares, the Models page of the settings
does the rest; what each of them asks for is done here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from shiboken6 import isValid

from foley_desktop.errors import FoleyError
from foley_desktop.library.checkpoints import Market
from foley_desktop.models import Progress
from foley_desktop.ui import text
from foley_desktop.ui.download_dialog import DownloadDialog, size
from foley_desktop.ui.embedder_page import EmbedderPage
from foley_desktop.ui.models_page import ModelsPage
from foley_desktop.ui.offer_strip import OfferStrip
from foley_desktop.ui.settings_dialog import SettingsDialog
from foley_desktop.workers import embedder_jobs, settings_jobs
from foley_desktop.workers.embedder_jobs import Added, Golden, Standing
from foley_desktop.workers.job import Job
from foley_desktop.workers.settings_jobs import Embedder

if TYPE_CHECKING:
    from foley_desktop.ui.main_window import MainWindow
    from foley_desktop.ui.settings_desk import SettingsDesk

FALLBACK = "compact"


class EmbedderWing(QObject):
    """Built by the window, once its other panels are there."""

    def __init__(self, window: MainWindow, settings: SettingsDesk) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._models: ModelsPage | None = None
        self._devices: list[str] = []
        self.standing = Standing("", None, "")
        # The window asks before an embedder takes over; scripts do not.
        window.service.embedders.asks = True
        self.strip = OfferStrip()
        window.strips.addWidget(self.strip)
        self.page = EmbedderPage()
        window.evaluation.pages.addTab(self.page, "Embedders")
        self._connect()

    def _connect(self) -> None:
        window, page = self._window, self.page
        window.lab.desk.shelf_changed.connect(page.show_shelf)
        window.evaluation.golden.textChanged.connect(page.show_file)
        page.compare_wanted.connect(self.compare)
        page.switch_wanted.connect(self.switch)
        page.stay_wanted.connect(self.stay)
        page.models_wanted.connect(self.open_models)
        page.file_wanted.connect(window.evaluation.choose_file)
        page.query_chosen.connect(window.search_for)
        window.library.models_changed.connect(lambda *_: self.refresh())
        window.library.overview_changed.connect(lambda _: self.refresh())
        window.library.job_started.connect(self._on_job)
        window.results.search.listed.connect(lambda _: self._look_again())
        self._settings.opened.connect(self.serve)

    def stop(self) -> None:
        """The window closes."""

    # --- what there is

    @property
    def models(self) -> ModelsPage | None:
        """The Models page, while it is open."""
        return self._models if self._models is not None and isValid(self._models) else None

    def serve(self, dialog: SettingsDialog) -> None:
        """Does what the Models page asks for, for as long as it is open."""
        page = self._models = dialog.models
        page.use_wanted.connect(self.use)
        page.wanted.connect(self._do)
        page.file_chosen.connect(self.add_file)
        page.download_wanted.connect(self.ask_to_fetch)
        page.device_chosen.connect(self.move_to)
        if self._devices:
            page.show_devices(self._devices, self._window.service.settings.device)
        self.refresh()

    def refresh(self) -> None:
        """Reads anew how the embedders stand."""
        service = self._window.service
        self._window.runner.reads.submit(
            lambda: (embedder_jobs.standing(service), settings_jobs.embedders(service)),
            self._take, self._window.messages.fail, key="embedders", what="Looking for models",
        )  # fmt: skip

    def _look_again(self) -> None:
        """Weights may go while the window is open; a search is when that is noticed."""
        found = self._window.results.search.found
        if found is not None and found.notices and not self.standing.trouble:
            self.refresh()

    def _take(self, found: tuple[Standing, list[Embedder]]) -> None:
        self.standing, embedders = found
        self.page.show_embedders(embedders, self.standing)
        if self.models is not None:
            self.models.show_embedders(embedders)
            if not self._window.status.jobs.is_indexing:
                self.models.show_listening(None, indexing=False)
            if not self._devices and any(one.removable for one in embedders):
                self._ask_devices()
        self._say()

    def _say(self) -> None:
        standing, offer = self.standing, self.standing.offer
        if standing.trouble:
            back = (
                f"Use {FALLBACK}",
                f"Find sounds with {FALLBACK} from now on",
                partial(self.switch, FALLBACK),
            )
            models = ("Models …", "The settings, page Models", self.open_models)
            sentence = f"Sounds are found by words and meaning alone: {standing.trouble}"
            self.strip.say(sentence, [back, models], wrong=True)
        elif offer is not None and offer.complete:
            name, active = text.shown(offer.name, 40), text.shown(offer.active, 40)
            self.strip.say(
                f"{name} knows every sound now. {active} goes on answering until you say so.",
                [
                    ("Compare …", "Both side by side on a golden set", partial(self.show_page, offer.name)),
                    (f"Switch to {name}", f"Find sounds with {name} now", partial(self.switch, offer.name)),
                    (f"Keep {active}", f"Do without {name}; what it heard is kept", self.stay),
                ],
            )
        else:
            self.strip.say("")

    def open_models(self) -> None:
        """Opens the settings at the Models page."""
        self._settings.open()
        dialog = self._settings.dialog
        if dialog is not None:
            dialog.tabs.setCurrentWidget(dialog.models)

    def show_page(self, name: str = "") -> None:
        """Brings the comparison to the front."""
        evaluation = self._window.evaluation
        evaluation.show()
        evaluation.pages.setCurrentWidget(self.page)
        if name:
            self.page.choose(name)

    # --- listening

    def _on_job(self, job: Job) -> None:
        if job.kind == "index":
            if self.models is not None:
                self.models.show_listening(None, indexing=True)
            job.progressed.connect(self._on_progress)
            job.ended.connect(self._on_index_ended)

    def _on_progress(self, step: Progress) -> None:
        offer = self.standing.offer
        if self.models is not None and offer is not None:
            listens = step.what.startswith(f"Listening with {offer.name}: ")
            self.models.show_listening(step if listens else None, indexing=True)

    def _on_index_ended(self) -> None:
        self.refresh()

    def _do(self, what: str, name: str) -> None:
        """What a card of the Models page asks for."""
        if what == "compare":
            dialog = self._settings.dialog
            if dialog is not None:
                dialog.accept()
            self.show_page(name)
        elif what == "switch":
            self._ask_to_switch(name)
        elif what == "stay":
            self.stay()
        elif what == "listen":
            self._window.library.rescan(None)
        elif what == "remove":
            self._ask_to_remove(name)

    def use(self, name: str) -> None:
        """Lets an embedder listen, to take over later; one of which nothing can be compared at once."""
        window = self._window

        def used(unheard: bool) -> None:
            self._on_changed()
            if unheard:
                window.messages.say(f"{text.shown(name, 60)} is listening to your sounds now.")
                window.library.rescan(None)

        self._write(partial(embedder_jobs.use, window.service, name), used, f"Choosing {name}")

    # --- the word

    def compare(self, golden: Golden, name: str, k: int) -> None:
        """Measures the active embedder and another one."""
        job = embedder_jobs.compare_job(self._window.service, golden, name, k)
        job.failed.connect(self._window.messages.fail)
        self.page.follow(job)
        self._window.status.jobs.add(job)
        self._window.runner.measures.submit(job)

    def _ask_to_switch(self, name: str) -> None:
        offer = self.standing.offer
        if offer is None or offer.name != name or offer.complete:
            self.switch(name)
            return
        shown, known = text.shown(name, 40), text.count(offer.heard)
        self._window.messages.ask(
            f"Switch to {shown} already?",
            f"It knows {known} of {text.plural(offer.clips, 'sound')}. The others are found by words and "
            "meaning alone until it has heard them too.",
            [("Switch", partial(self.switch, name))],
        )

    def switch(self, name: str) -> None:
        """Finds sounds with an embedder from now on."""
        window = self._window

        def switched(unheard: bool) -> None:
            self._on_changed()
            window.messages.say(f"Sounds are found with {text.shown(name, 60)} now.")
            if unheard:
                window.library.rescan(None)

        self._write(partial(embedder_jobs.switch, window.service, name), switched, f"Switching to {name}")

    def stay(self) -> None:
        """Goes on with the active embedder."""
        window = self._window

        def stayed(name: str) -> None:
            self.refresh()
            window.messages.say(f"{text.shown(name, 60)} stays in use.")

        self._write(partial(embedder_jobs.stay, window.service), stayed, "Keeping the embedder")

    def _on_changed(self) -> None:
        self.refresh()
        self._window.library.start_models()
        self._window.results.search.refresh()

    def _write(self, work: Callable[[], Any], done: Callable[[Any], None], what: str) -> None:
        """Does something small between two steps of an index run, which goes on with what is chosen then."""

        def failed(error: FoleyError) -> None:
            self.refresh()
            self._window.messages.fail(error)

        self._window.runner.writes.slip_in(work, done, failed, what)

    # --- weights

    def add_file(self, file: str) -> None:
        """Takes weights in, in the background."""
        self._take_in(embedder_jobs.add_job(self._window.service, file))

    def ask_to_fetch(self) -> None:
        """Asks what to fetch, and from where; nothing is fetched without an answer."""
        window = self._window

        def ask(market: Market) -> None:
            if self.models is not None:
                dialog = DownloadDialog(self.models, market)
                dialog.agreed.connect(self.fetch)
                dialog.open()

        window.runner.reads.submit(
            lambda: embedder_jobs.market(window.service),
            ask,
            window.messages.fail,
            what="The room on the disk",
        )

    def fetch(self, file: str, address: str) -> None:
        """Fetches weights that the user has agreed to."""
        self._take_in(embedder_jobs.fetch_job(self._window.service, file, address))

    def _take_in(self, job: Job) -> None:
        window = self._window
        job.failed.connect(window.messages.fail)
        job.finished.connect(self._on_added)
        job.ended.connect(self.refresh)
        if self.models is not None:
            self.models.line.follow(job)
        window.status.jobs.add(job)
        window.runner.measures.submit(job)

    def _on_added(self, added: Added) -> None:
        window, name = self._window, text.shown(added.name, 60)
        window.messages.say(f"{name} is ready: choose it under Models.")
        if not added.spare_bytes:
            return
        what = "The fetched file" if added.fetched else f"The original {text.shown(added.file, 160)}"
        window.messages.ask(
            "Delete the file the weights came from?",
            f"{name} works from a copy of its own in the data folder. {what} is needed no more and takes "
            f"{size(added.spare_bytes)}.",
            [("Delete the file", partial(self._delete, added))],
        )

    def _delete(self, added: Added) -> None:
        window = self._window
        job = embedder_jobs.delete_job(window.service, added)
        job.finished.connect(lambda freed: window.messages.say(f"Deleted; {size(freed)} are free again."))
        job.failed.connect(window.messages.fail)
        window.status.jobs.add(job)
        window.runner.measures.submit(job)

    def _ask_to_remove(self, name: str) -> None:
        standing, offer = self.standing, self.standing.offer
        half = f"{name}:half"
        used = standing.active in (name, half)
        waits = offer is not None and offer.name in (name, half)
        said = f"{FALLBACK} takes its place at once. " if used else "It will not take over. " if waits else ""
        self._window.messages.ask(
            f"Delete the weights of {text.shown(name, 60)}?",
            f"{said}They have to be added again before it can be used. What it heard of your sounds is kept.",
            [("Delete the weights", partial(self.remove, name))],
        )

    def remove(self, name: str) -> None:
        """Deletes weights that the user has given up; compact takes the place of those that are in use."""
        window = self._window

        def removed(unheard: bool) -> None:
            self._on_changed()
            window.messages.say(f"The weights of {text.shown(name, 60)} are deleted.")
            if unheard:
                window.library.rescan(None)

        self._write(partial(embedder_jobs.remove, window.service, name), removed, f"Removing {name}")

    # --- devices

    def _ask_devices(self) -> None:
        window = self._window

        def take(names: list[str]) -> None:
            self._devices = names
            if names and self.models is not None:
                self.models.show_devices(names, window.service.settings.device)

        window.runner.reads.submit(
            lambda: embedder_jobs.devices(window.service), take, key="devices", what="Looking for a GPU"
        )

    def move_to(self, device: str) -> None:
        """Lets CLAP run on another device."""
        window = self._window

        def moved(notice: str) -> None:
            window.library.start_models()
            if self.models is not None:
                self.models.show_device_words(notice or "CLAP runs there from now on.")

        if self.models is not None:
            self.models.show_device_words("Loading the models there …")
        window.runner.reads.submit(
            lambda: embedder_jobs.move(window.service, device), moved, window.messages.fail,
            key="device", what="The device",
        )  # fmt: skip
