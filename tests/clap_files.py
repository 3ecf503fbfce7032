"""Makes CLAP checkpoints and tokenizers for tests: random numbers in the true architecture.

Their texts and sounds come out well apart, which freshly initialised networks do not do: there every text
has nearly the same place, and no error in the order of words or windows would show.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

VOCABULARY = 50_265
_KNOWN = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 50264}
_CANARY = {"Hello": 31414, "Ġworld": 232, "!": 328}


def random_weights(size: str = "tiny", layers: int = 12, seed: int = 0) -> dict[str, Any]:
    """Weights by the network's own names."""
    import torch
    from torchlibrosa.stft import LogmelFilterBank, Spectrogram

    from foley_desktop.index.embedders.clap_import import Architecture, build

    rng = torch.Generator().manual_seed(seed)
    weights = dict(build(Architecture(size, layers)).state_dict())
    for name, tensor in weights.items():
        if name.endswith("running_var"):
            weights[name] = torch.ones_like(tensor)
        elif name.endswith(("norm.weight", "norm1.weight", "norm2.weight", "Norm.weight", "bn0.weight")):
            weights[name] = 1.0 + 0.1 * torch.randn(tensor.shape, generator=rng)
        elif tensor.dtype == torch.float32 and tensor.ndim > 1 and not name.endswith("attn_mask"):
            spread = (
                2.0 / float(np.sqrt(tensor.numel() / tensor.shape[0])) if "embeddings" not in name else 1.0
            )
            weights[name] = spread * torch.randn(tensor.shape, generator=rng)
        elif tensor.dtype == torch.float32 and tensor.ndim == 1:
            weights[name] = 0.02 * torch.randn(tensor.shape, generator=rng)
    weights["logit_scale_a"] = weights["logit_scale_t"] = torch.tensor(2.659)
    # What a sound looks like is no matter of training: these are constants in every checkpoint.
    spectrum = Spectrogram(n_fft=1024, hop_length=480, win_length=1024)
    mel = LogmelFilterBank(sr=48000, n_fft=1024, n_mels=64, fmin=50, fmax=14000)
    for part, module in (("spectrogram_extractor", spectrum), ("logmel_extractor", mel)):
        weights |= {f"audio_branch.{part}.{name}": tensor for name, tensor in module.state_dict().items()}
    return _centred(weights, Architecture(size, layers))


def _centred(weights: dict[str, Any], architecture: Any) -> dict[str, Any]:
    """Takes what all texts, and all sounds, have in common out of the space they share."""
    import torch

    from foley_desktop.index.embedders.clap_checkpoint import Checkpoint, network

    model = network(Checkpoint(architecture, weights), "random weights")
    rng = np.random.default_rng(1)
    texts = torch.tensor(rng.integers(4, VOCABULARY - 1, (6, 9)))
    noise = 0.2 * np.stack([np.repeat(rng.standard_normal(480_000 // n), n) for n in (1, 8, 60, 400)])
    noise[2] *= np.arange(480_000) % 24_000 < 3_000
    with torch.inference_mode():
        waves = torch.tensor(noise, dtype=torch.float32)
        heard = [model.encode_audio({"waveform": wave[None]}, "cpu") for wave in waves]
        read = model.text_branch(texts).pooler_output
    features = {"audio": torch.cat([one["embedding"] for one in heard]), "text": read}
    for kind, found in features.items():
        matrix, common = weights[f"{kind}_projection.0.weight"], found.mean(dim=0)
        spread = float((found - common).norm(dim=1).mean())
        weights[f"{kind}_projection.0.weight"] = matrix = matrix / spread
        weights[f"{kind}_projection.0.bias"] = -(matrix @ common)
    return weights


@lru_cache(maxsize=1)
def shared_weights() -> dict[str, Any]:
    """Weights with a RoBERTa of one layer, made once a session."""
    return random_weights(layers=1)


@lru_cache(maxsize=1)
def shared_checkpoint() -> Path:
    """Those weights in a file as it is published, with a tokenizer beside it."""
    import torch

    folder = Path(tempfile.mkdtemp(prefix="random-clap-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    torch.save(published(shared_weights()), folder / "630k random.pt")
    write_tokenizer(folder)
    return folder / "630k random.pt"


def published(weights: dict[str, Any]) -> dict[str, Any]:
    """Weights in the dress of a published file: wrapped names, an old table, the optimiser's remains."""
    import torch

    state = {f"module.{name}": tensor for name, tensor in weights.items()}
    state["module.text_branch.embeddings.position_ids"] = torch.arange(514)[None]
    # A learning rate that came out of a cosine is one of numpy's numbers.
    groups = [{"lr": np.cos(np.float64(0.5)), "step": np.int64(7), "betas": (0.9, np.float32(0.99))}]
    return {"epoch": 3, "name": "test", "state_dict": state, "optimizer": {"param_groups": groups}}


def write_tokenizer(folder: Path, *, ids: dict[str, int] | None = None) -> Path:
    """``vocab.json`` and ``merges.txt`` with the canary's tokens where roberta-base has them."""
    from tokenizers.pre_tokenizers import ByteLevel

    folder.mkdir(parents=True, exist_ok=True)
    words = ["Hello", "Ġworld", "Ġdog", "Ġrain", "Ġdoor"]
    merges: list[tuple[str, str]] = []
    for word in words:
        left = word[0]
        for letter in word[1:]:
            if (left, letter) not in merges:
                merges.append((left, letter))
            left += letter
    taken = {**_KNOWN, **_CANARY, **(ids or {})}
    tokens = sorted({*ByteLevel.alphabet(), *(a + b for a, b in merges)} - taken.keys())
    free = iter(sorted(set(range(VOCABULARY)) - set(taken.values())))
    vocabulary = taken | {token: next(free) for token in tokens}
    vocabulary |= {f"<unused{number}>": number for number in free}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    lines = ["#version: 0.2", *(f"{a} {b}" for a, b in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def oracle(weights: dict[str, Any], layers: int = 12, size: str = "tiny") -> Any:
    """``transformers.ClapModel`` with the same weights under its own names."""
    import re

    import torch
    from transformers import ClapConfig, ClapModel

    renames = [
        ("text_branch", "text_model"), ("audio_branch", "audio_model.audio_encoder"),
        ("attn.", "attention.self."), ("self.proj", "output.dense"), ("bn0", "batch_norm"),
        ("mlp.fc1", "intermediate.dense"), ("mlp.fc2", "output.dense"),
        ("norm1", "layernorm_before"), ("norm2", "layernorm_after"),
    ]  # fmt: skip
    renamed: dict[str, Any] = {}
    for name, tensor in weights.items():
        if any(part in name for part in ("extractor", "attn_mask", "_transform", "tscam_conv", ".head.")):
            continue
        for old, new in renames:
            if not (name.startswith("text_branch") and old in ("norm1", "norm2", "attn.")):
                name = name.replace(old, new)
        name = re.sub(r"sequential\.(\d+)\.", lambda m: f"linear{int(m[1]) // 3 + 1}.", name)
        name = re.sub(
            r"_projection\.(\d+)\.", lambda m: f"_projection.linear{1 if m[1] == '0' else 2}.", name
        )
        if "qkv" in name:
            for part, third in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                renamed[name.replace("qkv", part)] = third
        else:
            renamed[name] = tensor
    config = ClapConfig()
    config.text_config.layer_norm_eps = 1e-5
    config.text_config.num_hidden_layers = layers
    if size == "base":
        # HTSAT-base.json of the laion-clap package, in the words of transformers.
        sound = config.audio_config
        sound.patch_embeds_hidden_size, sound.hidden_size = 128, 1024
        sound.depths, sound.num_attention_heads = [2, 2, 12, 2], [4, 8, 16, 32]
    model = ClapModel(config).eval()
    missing, unexpected = model.load_state_dict(renamed, strict=False)
    wanted = {name for name in missing if "position_ids" not in name and "token_type_ids" not in name}
    assert not wanted and not unexpected, (sorted(wanted)[:5], unexpected[:5])
    assert torch.is_tensor(model.logit_scale_a)
    return model
