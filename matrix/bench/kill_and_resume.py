#!/usr/bin/python3
"""Kills the driver at random instants of a run and resumes it each time; in the end its results must
equal those of a run that nobody disturbed, in verdicts, findings and margins.

    kill_and_resume.py MESHPARITY FOLDER [--suite pairs] [--times 10] [--seed 1] [--cache DIR]

Every kill lands within the run of the cases: when a random number of results is stored, and a random
part of a case's time later. Left out of the comparison: seconds, and the folders that paths name.
FOLDER must not exist.
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
    parser.add_argument("--cache", default="build/cache")
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


def stored(folder):
    file = folder / "results.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def run_until_killed(line, folder, count, pause):
    """True when the driver was killed while it ran."""
    resumed = ["--resume"] if (folder / "plan.json").exists() else []
    run = subprocess.Popen([*line, "--out", folder, *resumed], stdout=subprocess.DEVNULL)
    while run.poll() is None and stored(folder) < count:
        time.sleep(0.01)
    try:
        run.wait(pause)
        return False
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGKILL)
        run.wait()
        return True


def main():
    asked = parsed()
    asked.folder.mkdir()
    line = [asked.program, "run", "--suite", asked.suite, "--cache", asked.cache]
    whole, killed = asked.folder / "whole", asked.folder / "killed"
    begun = time.monotonic()
    subprocess.run([*line, "--out", whole], check=True, stdout=subprocess.DEVNULL)
    lasted = time.monotonic() - begun
    one = results(whole)
    print(f"undisturbed: {len(one)} results in {lasted:.1f} s", flush=True)
    chance = random.Random(asked.seed)
    counts = sorted(chance.sample(range(len(one) - 1), asked.times))
    landed = 0
    for turn, count in enumerate(counts):
        landed += run_until_killed(line, killed, count, chance.uniform(0, lasted / len(one)))
        print(f"killed {turn + 1}: {stored(killed)} results stored", flush=True)
    resumed = ["--resume"] if (killed / "plan.json").exists() else []
    last = subprocess.run([*line, "--out", killed, *resumed], stdout=subprocess.DEVNULL)
    other = results(killed)
    unlike = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
    print(f"exit {last.returncode}; {landed} kills within the run; {len(one)} results, "
          f"{len(unlike)} unlike: {unlike[:3]}")
    sys.exit(1 if unlike or last.returncode or landed < asked.times else 0)


if __name__ == "__main__":
    main()
