"""RoBERTa's tokenizer from its two files, with a check that they are the right ones.

CLAP was trained behind roberta-base's 50,265 tokens. With any other vocabulary every text still gets
numbers and every number a vector, so that nothing fails and nothing is found; hence the check. The
``tokenizers`` library reads the files directly: transformers makes an empty tokenizer, without an
error, where they are missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foley_desktop.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FILES = ("vocab.json", "merges.txt")
MAX_TOKENS = 77
_VOCABULARY = 50_265
_BEGIN, _PAD, _END = 0, 1, 2
_CANARY = ("Hello world!", [0, 31414, 232, 328, 2])
_MAX_CHARS = 4000
_HINT = "Add vocab.json and merges.txt of roberta-base with: foley-desktop models add vocab.json"


class RobertaTokens:
    """Texts into token ids, at most 77 with those for beginning and end.

    Args:
        folder: Where ``vocab.json`` and ``merges.txt`` lie.

    Raises:
        ModelError: when they are missing, cannot be read, or are not those of roberta-base.
    """

    def __init__(self, folder: Path) -> None:
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise ModelError(f"CLAP cannot read text yet: {' and '.join(missing)} missing.", hint=_HINT)
        self._tokenizer = _opened(folder)
        text, ids = _CANARY
        vocabulary = self._tokenizer
        right = vocabulary.get_vocab_size() == _VOCABULARY and vocabulary.token_to_id("<pad>") == _PAD
        if not right or self.ids(text) != ids:
            raise ModelError(
                "CLAP cannot read text: vocab.json and merges.txt are not those of roberta-base.", hint=_HINT
            )

    def ids(self, text: str) -> list[int]:
        """Token ids of a text, which is cut where the network's view ends."""
        # Names that came from undecodable bytes hold lone surrogates, which no tokenizer takes.
        clean = text[:_MAX_CHARS].encode("utf-8", "replace").decode("utf-8")
        return [_BEGIN, *self._tokenizer.encode(clean).ids[: MAX_TOKENS - 2], _END]


def _opened(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import BPE

    try:
        tokenizer = Tokenizer(BPE.from_file(*(str(folder / name) for name in FILES)))
    except Exception as error:
        raise ModelError(
            "CLAP cannot read text: vocab.json and merges.txt cannot be read.", hint=_HINT, cause=error
        ) from error
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer
