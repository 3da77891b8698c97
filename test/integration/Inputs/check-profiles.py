"""Compares what --remat-print-memory prints for every file in a folder with two other sources.

check-profiles.py FOLDER RECOUNT"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROLES = {"parameters": "parameters", "optimizer_state": "optimizer_state", "batch": "inputs"}


def get_profile(path):
    command = ["remat-opt", path, "-allow-unregistered-dialect", "-o", os.devnull,
               "-remat-print-memory=fusion=none function=main format=json output=-"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)[0]


def get_live_peak(recount, path):
    # Calls in StableHLO are inlined before anything is counted.
    command = [sys.executable, recount, "--function", "main", path.replace(".calls.", ".")]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def check(profile, groups, live_peak):
    """Yields what is wrong."""
    expected = [ROLES[group] for group, number in groups.items() for _ in range(number)]
    for index, (want, got) in enumerate(zip(expected, profile["argument_categories"])):
        if want != got:
            yield f"argument {index} is one of the {want}, but was taken for one of the {got}"
    if len(expected) != len(profile["argument_categories"]):
        yield f"expected {len(expected)} arguments"
    if profile["live_peak_bytes"] != live_peak:
        yield f"the live peak is {live_peak}, but {profile['live_peak_bytes']} is printed"
    live = sum(row["bytes"] for row in profile["live_at_peak"])
    if live != sum(profile["categories_at_peak"].values()):
        yield "the categories do not add up to the live storages"
    if live != sum(row["bytes"] for row in profile["producers_at_peak"]):
        yield "the producers do not add up to the live storages"
    if live + profile["workspace_bytes"] != profile["live_peak_bytes"]:
        yield "storages and workspace do not add up to the live peak"
    rest = profile["alignment_bytes"] + profile["fragmentation_bytes"]
    if profile["live_peak_bytes"] + rest != profile["packed_peak_bytes"]:
        yield "the rows do not add up to the packed peak"
    if max(column["bytes"] for column in profile["timeline"]) != profile["live_peak_bytes"]:
        yield "the curve does not reach the live peak"


def main(folder, recount):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(".mlir")]
    paths = [os.path.join(folder, name) for name in names]
    with ThreadPoolExecutor(max_workers=2) as pool:
        profiles = pool.map(get_profile, paths)
        live_peaks = pool.map(lambda path: get_live_peak(recount, path), paths)
        failures = 0
        for name, profile, live_peak in zip(names, profiles, live_peaks):
            groups = manifest[name.partition(".")[0]]["arg_groups"]
            for message in check(profile, groups, live_peak):
                print(f"{name}: {message}", file=sys.stderr)
                failures += 1
    return failures != 0


sys.exit(main(*sys.argv[1:]))
