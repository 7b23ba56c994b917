# SPDX-License-Identifier: MIT
"""Small models to train: each function returns a model, its loss function and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Case = tuple[nn.Module, Callable[..., Tensor], tuple[Tensor, ...]]


class Odd(nn.Module):
    """What goes wrong first: tied weights, batch norm, in-place ops, dropout, autocast, and
    buffers that the step overwrites."""

    def __init__(self, vocabulary: int = 128, width: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.conv = nn.Conv1d(width, width, 3, padding=1)
        self.bn = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(0.2)
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(width))

    def forward(self, tokens: Tensor) -> Tensor:
        h = self.embed(tokens)
        self.count.add_(1)
        with torch.autocast(tokens.device.type, dtype=torch.bfloat16):
            for _ in range(4):
                c = torch.relu_(self.bn(self.conv(h.transpose(1, 2)).float()))
                h = h + self.drop(c).transpose(1, 2)
                h = self.norm(h + F.gelu(self.linear(h)))
        with torch.no_grad():
            self.mean.mul_(0.9).add_(h.detach().float().mean((0, 1)), alpha=0.1)
        return self.head(h.float())


def odd() -> Case:
    tokens = torch.randint(0, 128, (8, 64))
    return Odd(), lambda m, x: F.cross_entropy(m(x).flatten(0, 1), x.flatten()), (tokens,)


class UNet(nn.Module):
    """Two levels down and up, with skips that live through the whole step."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        w = width
        self.down = nn.ModuleList([self.block(3, w), self.block(w, 2 * w)])
        self.middle = self.block(2 * w, 4 * w)
        self.up = nn.ModuleList([self.block(6 * w, 2 * w), self.block(3 * w, w)])
        self.head = nn.Conv2d(w, 2, 1)

    @staticmethod
    def block(n_in: int, n_out: int) -> nn.Module:
        layers: list[nn.Module] = []
        for a, b in ((n_in, n_out), (n_out, n_out)):
            layers += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(True)]
        return nn.Sequential(*layers, nn.Dropout2d(0.1))

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for block in self.down:
            skips.append(x := block(x))
            x = F.max_pool2d(x, 2)
        x = self.middle(x)
        for block, skip in zip(self.up, reversed(skips), strict=True):
            x = block(torch.cat([F.interpolate(x, scale_factor=2), skip], 1))
        return self.head(x)


def unet() -> Case:
    images, labels = torch.randn(2, 3, 32, 32), torch.randint(0, 2, (2, 32, 32))
    return UNet(), lambda m, x, y: F.cross_entropy(m(x), y), (images, labels)


def resnet() -> Case:
    from torchvision.models.resnet import Bottleneck, ResNet

    model = ResNet(Bottleneck, [1, 1, 1, 1], num_classes=10, width_per_group=16)
    images, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))
    return model, lambda m, x, y: F.cross_entropy(m(x), y), (images, labels)


def _tokens() -> tuple[Tensor]:
    return (torch.randint(0, 64, (8, 32)),)


def _language_loss(model: nn.Module, tokens: Tensor) -> Tensor:
    return model(input_ids=tokens, labels=tokens).loss


def gpt2() -> Case:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_layer=3,
        n_embd=64,
        n_head=4,
        vocab_size=64,
        n_positions=32,
        use_cache=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    return GPT2LMHeadModel(config), _language_loss, _tokens()


def _bert() -> nn.Module:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        num_hidden_layers=3,
        hidden_size=64,
        num_attention_heads=4,
        intermediate_size=256,
        vocab_size=64,
        max_position_embeddings=32,
    )
    return BertForMaskedLM(config)


def bert() -> Case:
    return _bert(), _language_loss, _tokens()


def bert_lora() -> Case:
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["query", "value"])
    return get_peft_model(_bert(), config), _language_loss, _tokens()


def llama() -> Case:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=3,
        hidden_size=64,
        intermediate_size=160,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=64,
        max_position_embeddings=32,
        attention_dropout=0.1,
        use_cache=False,
    )
    return LlamaForCausalLM(config), _language_loss, _tokens()


def make(name: str, device: str = "cpu") -> Case:
    """A model by its function's name, in training mode, always with the same weights."""
    torch.manual_seed(0)
    functions: dict[str, Any] = globals()
    model, loss, args = functions[name]()
    return model.to(device).train(), loss, tuple(x.to(device) for x in args)


ALL = ("odd", "unet", "resnet", "gpt2", "bert", "bert_lora", "llama")
