"""Who may include whom (layers, one door for each foreign header, two seams of virtual), names of
files, and folder READMEs that name only files that exist.

Usage: check_layers.py [ROOT]; prints one line a breach and exits 1 when there is one.
"""
import pathlib
import posixpath
import re
import subprocess
import sys

HOOKS = ("fault_plan", "fault_registry", "fault_lists", "faults_of_")
MAY_INCLUDE = {
    "fixtures": {"fixtures"},
    "fault_hooks": {"fixtures", "fault_hooks"},
    "reference": {"fixtures", "reference"},
    "parallel_impl": {"fixtures", "fault_hooks", "parallel_impl"},
    "matrix": {"fixtures", "matrix"},
    "reports": {"fixtures", "matrix", "reports"},
    "fault_injection": {"fixtures", "fault_hooks", "matrix", "fault_injection"},
    "cli": {"fixtures", "fault_hooks", "matrix", "reports", "fault_injection", "cli"},
}
# Inside parallel_impl: what a part may include of its own layer.
PARTS = {
    "kernels": {"kernels"},
    "cuda": {"cuda", "kernels"},
    "backend": {"backend", "cuda", "kernels"},
    "comm": {"comm", "cuda", "kernels", "mesh"},
    "mesh": {"mesh", "comm"},
}
# Foreign header -> the places that may include it (regular expressions on the path).
DOORS = {
    r"^hdf5": r"^fixtures/hdf5_(calls|attributes|virtual)\.",
    r"^mpi\.h": r"^parallel_impl/(comm/mpi_|worker_main)",
    r"^nccl\.h": r"^parallel_impl/comm/nccl_",
    r"^(cuda|cublas|nvtx)": r"\.cuh?$|^parallel_impl/(cuda/|backend/cuda_|comm/nccl_)",
    # A benchmark may stand beside what it is compared with.
    r"^Eigen/": r"^reference/|_bench\.cpp$",
    r"^cblas": r"_bench\.cpp$",
    r"^openssl/": r"^fixtures/content_hash\.cpp$",
    r"^CLI/": r"^matrix/cli/|_main\.cpp$",
    r"^Random123/": r"_test\.cpp$",
}
SEAMS = {"parallel_impl/comm/comm.hpp", "parallel_impl/backend/backend.hpp"}
REFUSED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "core", "base"}
KERNEL_HEADERS = {"cmath", "concepts", "cstdint", "cstring"}


def layer_of(path):
    parts = pathlib.PurePath(path).parts
    if parts[0] == "fault_injection" and pathlib.PurePath(path).name.startswith(HOOKS):
        return "fault_hooks"
    if parts[:2] == ("matrix", "cli"):
        return "cli"
    return parts[0]


def part_of(path):
    parts = pathlib.PurePath(path).parts
    return parts[1] if len(parts) > 2 and parts[0] == "parallel_impl" else ""


def include_breaches(path, text):
    for line in re.finditer(r'^\s*#include\s+(["<])([^">]+)[">]', text, re.M):
        kind, name = line.groups()
        if kind == '"':
            yield from own_include(path, name)
        else:
            for header, door in DOORS.items():
                if re.search(header, name) and not re.search(door, path):
                    yield f"{path}: <{name}> has one door: {door}"
            if part_of(path) == "kernels" and path.endswith(".cuh") and name not in KERNEL_HEADERS:
                yield f"{path}: a kernel includes only {sorted(KERNEL_HEADERS)} and kernels/, not <{name}>"
        if name.startswith("fmt/") and path.endswith((".cu", ".cuh")):
            yield f"{path}: no fmt in what nvcc compiles"


def own_include(path, name):
    layer, target = layer_of(path), layer_of(name)
    if part_of(path) == "kernels" and path.endswith(".cuh") and part_of(name) != "kernels":
        yield f"{path}: a kernel may not include {name}"
    elif target not in MAY_INCLUDE:
        yield f'{path}: "{name}" is not written from the root'
    elif target not in MAY_INCLUDE[layer]:
        yield f"{path}: {layer} may not include {target} ({name})"
    elif layer == target == "parallel_impl":
        allowed = PARTS.get(part_of(path))
        if allowed and not path.endswith("_test.cpp") and part_of(name) not in allowed:
            yield f"{path}: {part_of(path)} may not include {name}"


def file_breaches(path, text):
    if layer_of(path) in MAY_INCLUDE:
        yield from include_breaches(path, text)
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    if re.search(r"\bvirtual\b", code) and path not in SEAMS and not path.endswith("_test.cpp"):
        yield f"{path}: virtual belongs to two seams only: {', '.join(sorted(SEAMS))}"
    stem = pathlib.PurePath(path).name.split(".")[0]
    if REFUSED_NAMES & set(stem.split("_")):
        yield f"{path}: a thing is named after what it does, not {stem}"


def readme_breaches(files, path, text):
    """Words in backticks that look like files must be ours: seen from the folder, from the root, or
    by name alone anywhere."""
    here = pathlib.PurePath(path).parent
    names = {pathlib.PurePath(file).name for file in files}
    for word in re.findall(r"`([\w./-]+\.(?:hpp|cpp|cuh|cu|py|toml|md|txt|json))`", text):
        exists = posixpath.normpath(here / word) in files or word in files or word in names
        generated = word in {"case.json", "results.jsonl", "report.md", "report.json", "plan.json"}
        if not generated and not exists:
            yield f"{path}: names {word}, which does not exist"


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\n") if name and (root / name).exists()]


def breaches(root):
    files = set(tracked(root))
    for path in sorted(files):
        if path.endswith((".cpp", ".hpp", ".cuh", ".cu")):
            yield from file_breaches(path, (root / path).read_text())
        elif path.endswith("README.md"):
            yield from readme_breaches(files, path, (root / path).read_text())


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(breaches(root))
    print("\n".join(found) if found else "check_layers: no breach")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
