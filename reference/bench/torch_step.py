#!/usr/bin/env python3
"""One float64 training step, PyTorch's and the reference's, timed in turns on one thread.

python3 reference/bench/torch_step.py STEP_BENCH [MODEL ...] prints medians, ratio and peak memory.
The ratio wanted: at most 0.5 on the tiny models, at most 1.3 on llama-timing.
"""
import json, os, pathlib, resource, statistics, subprocess, sys, time, tomllib

os.environ["OMP_NUM_THREADS"] = "1"
import torch
from torch.nn.functional import cross_entropy, dropout, gelu, layer_norm, silu

MODELS = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "models"
ROUNDS, REPEATS = 3, 3


def norm(model, x, weights, name):
    weight, bias = weights[name + ".weight"], weights.get(name + ".bias")
    if model["norm"] == "layernorm":
        return layer_norm(x, x.shape[-1:], weight, bias, model["norm_epsilon"])
    return rms_norm(model, x, weight)


def rms_norm(model, x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + model["norm_epsilon"]) * weight


def linear(x, weights, name):
    y = x @ weights[name + ".weight"]
    return y + weights[name + ".bias"] if name + ".bias" in weights else y


def rope(model, x):
    width = model["head_dim"]
    at = torch.arange(x.shape[1], dtype=x.dtype) + model["position_offset"]
    angle = at[:, None] * model["rope_base"] ** (-torch.arange(0, width, 2).to(x.dtype) / width)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


def attention(model, x, weights, layer):
    batch, sequence, _ = x.shape
    parts = []
    for which, heads in (("q", "heads"), ("k", "kv_heads"), ("v", "kv_heads")):
        part = linear(x, weights, layer + which).view(batch, sequence, model[heads], -1)
        if model["qk_norm"] and which != "v":
            part = rms_norm(model, part, weights[layer + which + "_norm.weight"])
        if model["positions"] == "rope" and which != "v":
            part = rope(model, part)
        parts.append(part.repeat_interleave(model["heads"] // model[heads], 2).transpose(1, 2))
    q, k, v = parts
    scores = q @ k.transpose(-1, -2) / model["head_dim"] ** 0.5
    scores = scores.masked_fill(torch.ones(sequence, sequence).triu(1).bool(), -torch.inf)
    if model["attention_sink"]:
        sink = weights[layer + "sink"][None, :, None, None].expand(batch, -1, sequence, 1)
        probs = torch.cat((scores, sink), -1).softmax(-1)[..., :-1]
    else:
        probs = scores.softmax(-1)
    context = (dropout(probs, model["dropout"]) @ v).transpose(1, 2).flatten(2)
    return linear(context, weights, layer + "out")


def feed_forward(model, x, weights, layer):
    up = linear(x, weights, layer + "up")
    swiglu = model["activation"] == "swiglu"
    act = silu(linear(x, weights, layer + "gate")) * up if swiglu else gelu(up)
    return linear(act, weights, layer + "down")


def loss_of(model, weights, tokens):
    rate = model["dropout"]
    x = weights["embed.weight"][tokens[:, :-1]]
    if model["positions"] == "learned":
        x = x + weights["embed.position"]
    x = dropout(x, rate)
    for i in range(model["layers"]):
        layer = f"layer{i}."
        normed = norm(model, x, weights, layer + "norm1")
        x = x + dropout(attention(model, normed, weights, layer + "attn."), rate)
        normed = norm(model, x, weights, layer + "norm2")
        x = x + dropout(feed_forward(model, normed, weights, layer + "mlp."), rate)
    head = weights["embed.weight" if model["tied_embeddings"] else "head.weight"]
    logits = norm(model, x, weights, "final_norm") @ head.T
    return cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(),
                         label_smoothing=model["smoothing"])


def shapes(model):
    """Names and shapes of the parameters, tied ones left out."""
    hidden, ffn, width = model["hidden"], model["ffn"], model["head_dim"]
    queries, keys = model["heads"] * width, model["kv_heads"] * width
    biased = model["biases"]

    def norm_of(name):
        yield name + ".weight", (hidden,)
        if biased and model["norm"] == "layernorm":
            yield name + ".bias", (hidden,)

    def linear_of(name, rows, columns):
        yield name + ".weight", (rows, columns)
        if biased:
            yield name + ".bias", (columns,)

    yield "embed.weight", (model["vocabulary"], hidden)
    if model["positions"] == "learned":
        yield "embed.position", (model["sequence"], hidden)
    for i in range(model["layers"]):
        attn, mlp = f"layer{i}.attn.", f"layer{i}.mlp."
        yield from norm_of(f"layer{i}.norm1")
        yield from norm_of(f"layer{i}.norm2")
        yield from linear_of(attn + "q", hidden, queries)
        yield from linear_of(attn + "k", hidden, keys)
        yield from linear_of(attn + "v", hidden, keys)
        yield from linear_of(attn + "out", queries, hidden)
        if model["qk_norm"]:
            yield attn + "q_norm.weight", (width,)
            yield attn + "k_norm.weight", (width,)
        if model["attention_sink"]:
            yield attn + "sink", (model["heads"],)
        for name in ("gate", "up") if model["activation"] == "swiglu" else ("up",):
            yield from linear_of(mlp + name, hidden, ffn)
        yield from linear_of(mlp + "down", ffn, hidden)
    yield from norm_of("final_norm")
    if not model["tied_embeddings"]:
        yield "head.weight", (model["vocabulary"], hidden)


class TorchStep:
    def __init__(self, model, dtype=torch.float64):
        torch.manual_seed(1)
        self.model = model
        self.weights = {name: (0.1 * torch.randn(shape, dtype=dtype)).requires_grad_()
                        for name, shape in shapes(model)}
        size = (model["global_batch"], model["sequence"] + 1)
        self.tokens = torch.randint(model["vocabulary"], size)
        adamw = model["adamw"]
        self.optimizer = torch.optim.AdamW(
            self.weights.values(), lr=adamw["learning_rate"], eps=adamw["epsilon"],
            betas=(adamw["beta1"], adamw["beta2"]), weight_decay=adamw["weight_decay"])

    def seconds(self):
        begun = time.perf_counter()
        self.optimizer.zero_grad()
        loss_of(self.model, self.weights, self.tokens).backward()
        torch.nn.utils.clip_grad_norm_(self.weights.values(), self.model["clip"])
        self.optimizer.step()
        return time.perf_counter() - begun


def compare(program, name):
    step = TorchStep(tomllib.loads((MODELS / f"{name}.toml").read_text()))
    step.seconds()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ran = subprocess.run([program, MODELS, name, str(REPEATS)], capture_output=True, check=True)
        ours.append(json.loads(ran.stdout))
        theirs += [step.seconds() for _ in range(REPEATS)]
    exact = statistics.median(run["exact_s"] for run in ours)
    torch_s = statistics.median(theirs)
    noisy = {key: statistics.median(run[key] for run in ours) for key in ours[0] if "noisy" in key}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{name}: reference {1e3 * exact:.1f} ms, PyTorch {1e3 * torch_s:.1f} ms, "
          f"ratio {exact / torch_s:.2f}; peak {ours[0]['peak_kib'] // 1024} MiB and "
          f"{peak // 1024} MiB; a noisy run in exact ones: "
          + (", ".join(f"{key[6:]} {value:.2f}" for key, value in noisy.items()) or "none"),
          flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for model in sys.argv[2:] or ["gpt-tiny", "llama-tiny", "mixed-tiny", "llama-timing"]:
        compare(sys.argv[1], model)
