"""How many channels become fewer or more: one rule for what is heard and what is exported.

Shared by the player and the export, so that a surround clip sounds the same in both.
"""

from __future__ import annotations

import numpy as np

MINUS_3_DB = 0.5**0.5

_C = MINUS_3_DB
# Left and right shares of each channel, in the channel order of WAVE files. ITU-R BS.775-3, annex 4:
# centre and surrounds at -3 dB, the low-frequency channel left out.
_SURROUND = {
    3: ([1, 0, _C], [0, 1, _C]),  # L R C
    5: ([1, 0, _C, _C, 0], [0, 1, _C, 0, _C]),  # L R C Ls Rs
    6: ([1, 0, _C, 0, _C, 0], [0, 1, _C, 0, 0, _C]),  # L R C LFE Ls Rs
    8: ([1, 0, _C, 0, _C, 0, _C, 0], [0, 1, _C, 0, 0, _C, 0, _C]),  # L R C LFE Lb Rb Ls Rs
}


def mix_matrix(channels_in: int, channels_out: int) -> np.ndarray:
    """The float32 matrix ``(channels_in, channels_out)`` that frames are multiplied with from the right.

    Mono goes to every output at full level. To stereo, 3.0, 5.0, 5.1 and 7.1 follow ITU-R BS.775; of any
    other layout odd and even channels are averaged to left and right. Mono is the mean of that stereo
    pair. To more channels, the extra ones stay silent. Levels may exceed full scale: clipping belongs to
    the last stage.

    Raises:
        ValueError: when reducing to more than two channels, for which there is no rule.
    """
    if channels_in < 1 or channels_out < 1:
        raise ValueError(f"no such layout: {channels_in} to {channels_out} channels")
    if channels_in == channels_out:
        return np.eye(channels_in, dtype=np.float32)
    if channels_in == 1:
        return np.ones((1, channels_out), np.float32)
    if channels_out > channels_in:
        return np.eye(channels_in, channels_out, dtype=np.float32)
    if channels_out > 2:
        raise ValueError(f"{channels_in} channels can only be reduced to stereo or mono")
    stereo = _to_stereo(channels_in)
    return stereo if channels_out == 2 else stereo.mean(axis=1, keepdims=True, dtype=np.float32)


def _to_stereo(channels: int) -> np.ndarray:
    if channels == 2:
        return np.eye(2, dtype=np.float32)
    if channels in _SURROUND:
        return np.array(_SURROUND[channels], np.float32).T
    matrix = np.zeros((channels, 2), np.float32)
    matrix[0::2, 0] = 1 / len(range(0, channels, 2))
    matrix[1::2, 1] = 1 / len(range(1, channels, 2))
    return matrix


def mix(block: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """``block`` (float32 ``(n, channels_in)``) as ``(n, channels_out)``; the same if nothing is mixed."""
    rows, columns = matrix.shape
    if rows == columns:
        return block
    if rows == 1:
        return np.repeat(block, columns, axis=1)
    return block @ matrix
