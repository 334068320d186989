"""Sizes of files and functions, numbers of parameters, TODOs without an issue, commented-out code.

Usage: check_sizes.py [ROOT]; prints one line a breach and exits 1 when there is one.
"""
import pathlib
import re
import sys

from check_layers import tracked

FILE_LINES, FUNCTION_LINES, PARAMETERS = 300, 40, 5
NO_FUNCTION = re.compile(r"^\s*(?:\}?\s*(?:else\s+)?(?:if|for|while|switch|catch)\b|else\b|do\b|"
                         r"try\b|(?:inline\s+)?namespace\b|enum\b|union\b|extern\b)")


def blank(text):
    """The text with comments and literals blanked, lines kept."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    pattern = r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, spaces, text, flags=re.S)


def parameters_of(head):
    """Parameters of the first parenthesis group of a function's head."""
    start = head.find("(")
    depth = angle = 0
    commas, seen = 0, False
    for character in head[start:]:
        depth += character in "([{"
        depth -= character in ")]}"
        angle += character == "<"
        angle -= character == ">"
        if depth == 0:
            break
        commas += character == "," and depth == 1 and angle <= 0
        seen = seen or (character not in "( \n")
    return commas + 1 if seen else 0


def is_function(head):
    head = re.sub(r"^\s*#[^\n]*\n", "", head, flags=re.M)
    if NO_FUNCTION.match(head.strip()) or "(" not in head:
        return False
    before = head[:head.find("(")]
    if "=" in before and "operator" not in before:
        return False
    if re.search(r"\b(?:class|struct)\s+\w+\s*(?:final\s*)?(?::[^:]|$)", head):
        return False
    return bool(re.search(r"[\w>=\])]\s*$", before) and not re.search(r"\breturn\b", before))


def functions(text):
    """(first line, body lines, parameters, body) of each function definition."""
    opened, begin = [], 0
    for place, character in enumerate(text):
        if character == "{":
            opened.append((place, begin))
            begin = place + 1
        elif character == "}" and opened:
            start, head_begin = opened.pop()
            head = text[head_begin:start]
            # "b_{2} {" and "b_{2}, c_" go on with the head that they stand in.
            initializer = re.match(r"\s*[,{);]", text[place + 1:place + 40])
            begin = head_begin if initializer else place + 1
            if not initializer and is_function(head):
                body = text[start:place]
                yield text.count("\n", 0, start) + 1, body.count("\n"), parameters_of(head), body
        elif character == ";":
            # A for statement's own semicolons do not end a head.
            if text.count("(", begin, place) == text.count(")", begin, place):
                begin = place + 1


def is_table(body):
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    data = sum(line.startswith("{") or line.endswith(("},", "}},", ",")) for line in lines)
    return data >= 0.7 * len(lines)


def breaches_of(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{path}: {lines} lines, the limit is {FILE_LINES}"
    for line, length, parameters, body in functions(blank(text)):
        if length > FUNCTION_LINES and not is_table(body):
            yield f"{path}:{line}: a function of {length} lines, the limit is {FUNCTION_LINES}"
        # A link-time fake defines a library's functions as the library declares them.
        own = not path.endswith("_test.cpp") and not re.search(r"/fake_|_fake\.", path)
        if parameters > PARAMETERS and own:
            yield f"{path}:{line}: {parameters} parameters, the limit is {PARAMETERS}: make a struct"
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b(?!.*#\d)", line):
            yield f"{path}:{number}: a TODO names the number of an issue"
        if re.match(r"\s*//[^/].*[;{]\s*$", line) and re.search(r"\w\(|=|return", line):
            yield f"{path}:{number}: commented-out code"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = []
    for path in tracked(root):
        if path.endswith((".cpp", ".hpp", ".cuh", ".cu")):
            found += breaches_of(path, (root / path).read_text())
    print("\n".join(found) if found else "check_sizes: no breach")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
