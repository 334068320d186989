#!/usr/bin/env python3
"""One float32 training step, PyTorch's (eager) and the candidate's, timed in turns on one thread.

python3 parallel_impl/bench/torch_step32.py CANDIDATE_STEP_BENCH [MODEL ...] prints medians, their
ratio and the share of the candidate's time that goes into products.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "reference" / "bench"))
import torch_step  # sets one thread before it imports torch
import torch

ROUNDS, STEPS = 5, 3


def compare(program, name):
    models = ROOT / "fixtures" / "models"
    step = torch_step.TorchStep(tomllib.loads((models / f"{name}.toml").read_text()), torch.float32)
    step.seconds()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ran = subprocess.run([program, models, name, "fp32", str(STEPS)], capture_output=True,
                             check=True)
        ours.append(json.loads(ran.stdout))
        theirs += [step.seconds() for _ in range(STEPS)]
    candidate = statistics.median(run["step_s"] for run in ours)
    products = statistics.median(run["product_s"] / run["step_s"] for run in ours)
    peer = statistics.median(theirs)
    print(f"{name} fp32: candidate {1e3 * candidate:.1f} ms, {100 * products:.0f} % of it in "
          f"products; PyTorch {1e3 * peer:.1f} ms; ratio {candidate / peer:.2f}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for model in sys.argv[2:] or ["llama-timing"]:
        compare(sys.argv[1], model)
