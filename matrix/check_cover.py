#!/usr/bin/env python3
"""Counts a cover from outside: which legal combinations of values stand together in its cases.

    check_cover.py MESHPARITY SUITE.toml MODELS

Reads the suite's TOML and what `meshparity list` prints, parses case ids and judges legality by
rules of its own, written from contracts.md §1 and the models' TOML files.
"""
import itertools
import pathlib
import subprocess
import sys
import tomllib

IDLE = {"plain", "dp1", "tp1", "mb1", "adamw", "clip", "dropout", "smooth", "ragged", "tokenmean",
        "lazy", "zipf"}


def words_of(case_id):
    model, mesh, features, precision, machine = case_id.split("+")[0].split(".")
    words = {model, precision, machine}
    words |= set(mesh.split("-")) | {
        "text" if word.startswith("text_") else word for word in features.split("-")}
    return words


def row_of(case_id, factors):
    """The value of each factor in a case: the one that it names, else the one that needs no name."""
    words = words_of(case_id)
    row = {}
    for name, values in factors.items():
        named = [value for value in values if value in words and value not in IDLE]
        unnamed = [value for value in values if value in IDLE]
        if len(named) > 1 or not (named or unnamed):
            sys.exit(f"{case_id}: factor {name}: {named or 'no value'}")
        row[name] = (named or unnamed)[0]
    return row


def number(value):
    digits = value.lstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits) if digits.isdigit() else 1


def is_legal(row, models, cover):
    model = models[row["model"]]
    dp, tp = number(row.get("dp", "dp1")), number(row.get("tp", "tp1"))
    mb = number(row.get("micro_batches", "mb1"))
    kv = model["kv_heads"]
    if dp * tp > cover["world_at_most"] or model["global_batch"] % (dp * mb):
        return False
    if any(model[size] % tp for size in ("heads", "ffn", "hidden", "padded_vocabulary")):
        return False
    if kv % tp and tp % kv:
        return False
    if row.get("sequence_parallelism") == "sp" and tp == 1:
        return False
    if row.get("rank_order", "plain") != "plain" and (dp == 1 or tp == 1):
        return False
    if row.get("completion") == "eager" and dp * tp == 1:
        return False
    for restriction in cover.get("restrict", []):
        if restriction["value"] in row.values():
            for name, values in cover["factors"].items():
                listed = set(values) & set(restriction["to"])
                if listed and row[name] not in listed:
                    return False
    return True


def combinations_in(row, strength):
    return set(itertools.combinations(sorted(row.items()), strength))


LAYOUT = ("model", "dp", "tp", "micro_batches", "sequence_parallelism", "rank_order", "completion",
          "loss_mode")


def legal_combinations(cover, models):
    """Every other factor goes with every layout: only the layout's must be tried together."""
    factors, strength = cover["factors"], cover["strength"]
    layout = {name: values for name, values in factors.items() if name in LAYOUT}
    others = {name: values for name, values in factors.items() if name not in LAYOUT}
    legal = [set() for _ in range(strength + 1)]
    for values in itertools.product(*layout.values()):
        row = dict(zip(layout, values))
        if is_legal(row, models, cover):
            for size in range(strength + 1):
                legal[size] |= combinations_in(row, size)
    found = set()
    for size in range(strength + 1):
        for names in itertools.combinations(others, strength - size):
            for values in itertools.product(*(others[name] for name in names)):
                rest = tuple(zip(names, values))
                found |= {tuple(sorted(part + rest)) for part in legal[size]}
    return found


def main():
    program, suite, folder = sys.argv[1:]
    cover, = tomllib.loads(pathlib.Path(suite).read_text())["covers"]
    models = {name: tomllib.loads((pathlib.Path(folder) / f"{name}.toml").read_text())
              for name in cover["factors"]["model"]}
    listed = subprocess.run([program, "list", "--suite", suite], check=True, text=True,
                            capture_output=True).stdout.splitlines()
    cases = [line for line in listed if " " not in line and line.count(".") == 4]
    covered = set()
    for case_id in cases:
        row = row_of(case_id, cover["factors"])
        if not is_legal(row, models, cover):
            sys.exit(f"{case_id} is not legal")
        covered |= combinations_in(row, cover["strength"])
    legal = legal_combinations(cover, models)
    told = [line for line in listed if " of " in line and " legal " in line]
    print(f"{len(cases)} cases hold {len(covered & legal)} of {len(legal)} legal combinations")
    for missing in sorted(legal - covered)[:10]:
        print("missing:", missing)
    if legal - covered or covered - legal:
        sys.exit(1)
    if not any(f" {len(legal)} of {len(legal)} legal" in line for line in told):
        sys.exit(f"the program counts otherwise: {told}")


if __name__ == "__main__":
    main()
