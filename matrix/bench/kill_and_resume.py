#!/usr/bin/python3
"""Kills the driver at random instants of a run and resumes it each time; in the end its results must
equal those of a run that nobody disturbed, in verdicts, findings and margins.

    kill_and_resume.py MESHPARITY FOLDER [--suite pairs] [--times 10] [--seed 1]

Left out of the comparison: seconds, and the folders that paths name. FOLDER must not exist.
"""
import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import time


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--suite", default="pairs")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def results(folder):
    found = {}
    for line in (folder / "results.jsonl").read_text().splitlines():
        report = json.loads(line.replace(str(folder), "FOLDER"))
        del report["seconds"]
        name = (report["relation"], report["case"])
        if name in found:
            sys.exit(f"{name} is there twice")
        found[name] = report
    return found


def main():
    asked = parsed()
    asked.folder.mkdir()
    line = [asked.program, "run", "--suite", asked.suite]
    whole, killed = asked.folder / "whole", asked.folder / "killed"
    begun = time.monotonic()
    subprocess.run([*line, "--out", whole], check=True, stdout=subprocess.DEVNULL)
    lasted = time.monotonic() - begun
    print(f"undisturbed: {lasted:.1f} s", flush=True)
    chance = random.Random(asked.seed)
    for turn in range(asked.times):
        resumed = ["--resume"] if (killed / "plan.json").exists() else []
        run = subprocess.Popen([*line, "--out", killed, *resumed], stdout=subprocess.DEVNULL)
        try:
            run.wait(chance.uniform(0, 2 * lasted / asked.times))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
        stored = killed / "results.jsonl"
        lines = stored.read_bytes().count(b"\n") if stored.exists() else 0
        print(f"killed {turn + 1}: {lines} results stored", flush=True)
    resumed = ["--resume"] if (killed / "plan.json").exists() else []
    last = subprocess.run([*line, "--out", killed, *resumed], stdout=subprocess.DEVNULL)
    one, other = results(whole), results(killed)
    unlike = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
    print(f"exit {last.returncode}; {len(one)} results, {len(unlike)} unlike: {unlike[:3]}")
    sys.exit(1 if unlike or last.returncode else 0)


if __name__ == "__main__":
    main()
