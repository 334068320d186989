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

IDLE = {"plain", "dp1", "tp1", "pp1", "mb1", "adamw", "clip", "dropout", "smooth", "ragged",
        "tokenmean", "lazy", "zipf"}


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


def belongs(case_id, factors):
    """Whether a case names nothing but this cover's values: a suite may hold several covers."""
    words = words_of(case_id) - {"plain", "single", "host-threads"}
    known = words <= {value for values in factors.values() for value in values} | {"fp64"}
    return known and all(words & set(values) or IDLE & set(values) for values in factors.values())


def number(value):
    digits = value.lstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits) if digits.isdigit() else 1


def chunks_of(schedule):
    return 2 if schedule in ("int2", "zbv") else 1


def is_stream(schedule):
    return schedule.startswith("pipedream")


def fits_pipeline(row, model):
    """Stages, chunks and the micro-batches that a schedule needs (algorithms.md 3.9)."""
    pp, schedule = number(row["pp"]), row["schedule"]
    mb = number(row["micro_batches"])
    if pp == 1 or schedule == "plain":
        return pp == 1 and schedule == "plain" and row["split"] == "plain"
    pieces, chunks = model["layers"] + 2, chunks_of(schedule)
    if pp * chunks > pieces or (is_stream(schedule) and model["tied_embeddings"]):
        return False
    if row["split"] != "plain":
        sizes = [int(size) for size in row["split"][len("split"):].split("_")]
        if len(sizes) != pp or sum(sizes) != pieces or min(sizes) < chunks:
            return False
    fewest = {"int2": pp, "zbh1": pp, "zbh2": 2 * pp - 1, "zbv": 2 * pp - 1, "pipedream": pp + 2,
              "pipedream_vsync": pp + 2, "pipedream_2bw": pp}.get(schedule, 1)
    return mb >= fewest and (schedule != "int2" or mb % pp == 0)


def fits_model(row, models, cover):
    model = models[row["model"]]
    dp, tp, pp = number(row["dp"]), number(row["tp"]), number(row["pp"])
    kv = model["kv_heads"]
    return (dp * tp * pp <= cover["world_at_most"]
            and model["global_batch"] % (dp * number(row["micro_batches"])) == 0
            and not any(model[size] % tp for size in ("heads", "ffn", "hidden", "padded_vocabulary"))
            and (kv % tp == 0 or tp % kv == 0) and fits_pipeline(row, model))


# What decides a mesh and its micro-batches; a cover may leave some of it out.
CORE = {"model": None, "dp": "dp1", "tp": "tp1", "pp": "pp1", "schedule": "plain",
        "micro_batches": "mb1", "split": "plain"}


def core_of(row):
    return {name: row.get(name, default) for name, default in CORE.items()}


def choices_of(core, cover):
    """Of every other factor the values that this mesh allows, by themselves."""
    dp, tp, pp = number(core["dp"]), number(core["tp"]), number(core["pp"])
    axes = sum(degree > 1 for degree in (dp, tp, pp))
    needs = {"sequence_parallelism": tp > 1, "rank_order": axes > 1, "completion": axes > 0,
             "zero": dp > 1, "bucket": dp > 1, "overlap": dp > 1, "gradient_payload": dp > 1}
    # Stages that never meet have no norm, no common skip and one copy of every weight.
    if is_stream(core["schedule"]):
        needs |= {"zero": False, "loss_scaling": False}
    choices = {}
    for name, values in cover["factors"].items():
        if name not in CORE:
            choices[name] = [value for value in values if needs.get(name, True) or value in IDLE]
            if name == "clip" and is_stream(core["schedule"]):
                choices[name] = [value for value in choices[name] if value == "clip_off"]
            for restriction in cover.get("restrict", []):
                allowed = set(restriction["to"])
                listed = {other: set(values) & allowed for other, values in cover["factors"].items()}
                if any(listed[other] and core[other] not in listed[other]
                       for other in listed if other in CORE):
                    choices[name] = [value for value in choices[name]
                                     if value != restriction["value"]]
    return choices


def agree(chosen):
    """Whether values of factors beside the mesh can stand in one case; other factors are free."""
    zero = chosen.get("zero", "")
    if chosen.get("overlap") == "overlap_off" and zero and not zero.startswith(("zero2", "zero3")):
        return False
    if chosen.get("bucket") == "bucket4" and zero.endswith("_param"):
        return False
    return chosen.get("master") != "master64" or chosen.get("precision") != "fp64"


def is_legal(row, models, cover):
    core = core_of(row)
    if not fits_model(core, models, cover):
        return False
    choices = choices_of(core, cover)
    chosen = {name: row[name] for name in choices}
    return all(chosen[name] in allowed for name, allowed in choices.items()) and agree(chosen)


def combinations_in(row, strength):
    return set(itertools.combinations(sorted(row.items()), strength))


def legal_combinations(cover, models):
    """Meshes that allow the same choices are taken together: a combination is some values of such
    a mesh and some of its choices."""
    factors, strength = cover["factors"], cover["strength"]
    core_factors = {name: factors[name] for name in CORE if name in factors}
    kinds = {}
    for values in itertools.product(*core_factors.values()):
        row = core_of(dict(zip(core_factors, values)))
        if fits_model(row, models, cover):
            choices = choices_of(row, cover)
            key = tuple((name, tuple(allowed)) for name, allowed in choices.items())
            parts = kinds.setdefault(key, [set() for _ in range(strength + 1)])
            for size in range(strength + 1):
                parts[size] |= combinations_in(dict(zip(core_factors, values)), size)
    found = set()
    for key, parts in kinds.items():
        choices = dict(key)
        for size in range(strength + 1):
            for names in itertools.combinations(choices, strength - size):
                for values in itertools.product(*(choices[name] for name in names)):
                    rest = tuple(zip(names, values))
                    if agree(dict(rest)):
                        found |= {tuple(sorted(part + rest)) for part in parts[size]}
    return found


def count(cover, models, cases, told):
    covered = set()
    for case_id in cases:
        row = row_of(case_id, cover["factors"])
        if not is_legal(row, models, cover):
            sys.exit(f"{case_id} is not legal")
        covered |= combinations_in(row, cover["strength"])
    legal = legal_combinations(cover, models)
    print(f"{len(cases)} cases hold {len(covered & legal)} of {len(legal)} legal combinations")
    for missing in sorted(legal - covered)[:10]:
        print("missing:", missing)
    for extra in sorted(covered - legal)[:10]:
        print("not legal:", extra)
    if legal - covered or covered - legal:
        sys.exit(1)
    if not any(f" {len(legal)} of {len(legal)} legal" in line for line in told):
        sys.exit(f"the program counts otherwise: {told}")


def main():
    program, suite, folder = sys.argv[1:]
    covers = tomllib.loads(pathlib.Path(suite).read_text())["covers"]
    models = {name: tomllib.loads((pathlib.Path(folder) / f"{name}.toml").read_text())
              for cover in covers for name in cover["factors"]["model"]}
    listed = subprocess.run([program, "list", "--suite", suite], check=True, text=True,
                            capture_output=True).stdout.splitlines()
    cases = [line for line in listed if " " not in line and line.count(".") == 4]
    told = [line for line in listed if " of " in line and " legal " in line]
    for cover in covers:
        count(cover, models, [case for case in cases if belongs(case, cover["factors"])], told)


if __name__ == "__main__":
    main()
