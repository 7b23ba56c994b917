# SPDX-License-Identifier: MIT
"""Models of the size that people train: each function returns a model, its loss function
and arguments. Nothing is run at this size, only captured, so the weights stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Case = tuple[nn.Module, Callable[..., Tensor], tuple[Tensor, ...]]


def _classes(model: nn.Module, images: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(model(images), labels)


def _images(batch: int, size: int = 224) -> tuple[Tensor, Tensor]:
    return torch.zeros(batch, 3, size, size), torch.zeros(batch, dtype=torch.long)


def resnet50_b64() -> Case:
    from torchvision.models import resnet50

    return resnet50(weights=None), _classes, _images(64)


def efficientnet_b0_b64() -> Case:
    from torchvision.models import efficientnet_b0

    return efficientnet_b0(weights=None), _classes, _images(64)


class UNet(nn.Module):
    """Four levels down and up, two convolutions with batch norm on each."""

    def __init__(self, width: int = 64, levels: int = 4) -> None:
        super().__init__()
        sizes = [width << i for i in range(levels + 1)]
        self.down = nn.ModuleList(
            self._block(a, b) for a, b in zip([3, *sizes], sizes, strict=False)
        )
        self.grow = nn.ModuleList(
            nn.ConvTranspose2d(2 * n, n, 2, stride=2) for n in reversed(sizes[:-1])
        )
        self.up = nn.ModuleList(self._block(2 * n, n) for n in reversed(sizes[:-1]))
        self.head = nn.Conv2d(width, 2, 1)

    @staticmethod
    def _block(n_in: int, n_out: int) -> nn.Module:
        def layer(a: int, b: int) -> list[nn.Module]:
            return [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(True)]

        return nn.Sequential(*layer(n_in, n_out), *layer(n_out, n_out))

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for block in self.down[:-1]:
            skips.append(x := block(x))
            x = F.max_pool2d(x, 2)
        x = self.down[-1](x)
        for grow, block, skip in zip(self.grow, self.up, reversed(skips), strict=True):
            x = block(torch.cat([skip, grow(x)], 1))
        return self.head(x)


def unet_b8() -> Case:
    return UNet(), _classes, (torch.zeros(8, 3, 256, 256), torch.zeros(8, 256, 256).long())


def _language_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    return model(input_ids=tokens, labels=tokens).loss


def _tokens(batch: int, length: int) -> tuple[Tensor]:
    return (torch.zeros(batch, length, dtype=torch.long),)


def _bert() -> nn.Module:
    from transformers import BertConfig, BertForMaskedLM

    return BertForMaskedLM(BertConfig())


def bert_base_b32() -> Case:
    return _bert(), _language_loss, _tokens(32, 128)


def bert_lora_b32() -> Case:
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=8, lora_alpha=16, lora_dropout=0.1, target_modules=["query", "value"])
    return get_peft_model(_bert(), config), _language_loss, _tokens(32, 128)


def gpt2_b8() -> Case:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(use_cache=False)), _language_loss, _tokens(8, 1024)


def llama_b4() -> Case:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=16,
        hidden_size=1024,
        intermediate_size=2816,
        num_attention_heads=16,
        num_key_value_heads=16,
        vocab_size=32000,
        max_position_embeddings=1024,
        use_cache=False,
    )
    return LlamaForCausalLM(config), _language_loss, _tokens(4, 1024)


def make(name: str) -> Case:
    """A model by its function's name, in training mode."""
    torch.manual_seed(0)
    functions: dict[str, Any] = globals()
    model, loss, args = functions[name]()
    return model.train(), loss, args


ALL = (
    "resnet50_b64",
    "unet_b8",
    "efficientnet_b0_b64",
    "bert_base_b32",
    "bert_lora_b32",
    "gpt2_b8",
    "llama_b4",
)
