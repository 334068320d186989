"""The checks are checked: each rule of check_layers and check_sizes is broken once in a made-up
file and must be reported; a sound file must not be.
"""
import sys

import check_layers
import check_sizes

LONG_BODY = "".join(f"  step({i});\n" for i in range(50))
LAYERS = [
    ("reference/a.cpp", '#include "parallel_impl/model/mlp.hpp"\n', "may not include"),
    ("parallel_impl/a.cpp", '#include "reference/linear.hpp"\n', "may not include"),
    ("matrix/a.cpp", '#include "reference/linear.hpp"\n', "may not include"),
    ("matrix/a.cpp", '#include "fault_injection/fault_plan.hpp"\n', "may not include"),
    ("matrix/cli/a.cpp", '#include "parallel_impl/train.hpp"\n', "may not include"),
    ("fixtures/a.cpp", '#include "matrix/verdict.hpp"\n', "may not include"),
    ("fixtures/a.cpp", '#include "error.hpp"\n', "not written from the root"),
    ("matrix/a.cpp", "#include <hdf5.h>\n", "one door"),
    ("parallel_impl/a.cpp", "#include <Eigen/Dense>\n", "one door"),
    ("parallel_impl/kernels/a.cuh", "#include <vector>\n", "a kernel includes only"),
    ("parallel_impl/kernels/a.cuh", '#include "fixtures/error.hpp"\n', "may not include"),
    ("reference/a.hpp", "struct A {\n  virtual void f();\n};\n", "two seams"),
    ("fixtures/string_utils.hpp", "\n", "named after what it does"),
]
SIZES = [
    ("a.cpp", "\n" * 301, "the limit is 300"),
    ("a.cpp", "int f(int a) {\n" + LONG_BODY + "}\n", "a function of"),
    ("a.cpp", "A::A(int a) : a_(a), b_{2} {\n" + LONG_BODY + "}\n", "a function of"),
    ("a.cpp", "int f(int a, int b, int c, int d, int e, int g) {\n}\n", "6 parameters"),
    ("a.cpp", "// TODO: later\n", "a TODO"),
    ("a.cpp", "  // value = f(x);\n", "commented-out"),
]
SOUND = """// f(x) = x + 1, as the textbook has it.
#include "fixtures/error.hpp"
std::map<int, int> f(std::map<int, int> a, int b, int c, int d, int e) {
  for (int i = 0; i < 3; ++i) {
    if (b > c) {
      return a;
    }
  }
  return "}{";
}
"""


def main():
    failures = []
    for path, text, expected in LAYERS:
        if not any(expected in line for line in check_layers.file_breaches(path, text)):
            failures.append(f"check_layers accepts {path}: {text.strip()}")
    for path, text, expected in SIZES:
        if not any(expected in line for line in check_sizes.breaches_of(path, text)):
            failures.append(f"check_sizes accepts what should be refused: {expected}")
    failures += check_layers.file_breaches("matrix/a.cpp", SOUND)
    failures += check_sizes.breaches_of("matrix/a.cpp", SOUND)
    print("\n".join(failures) if failures else "check_test: every rule was seen to fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
