#!/usr/bin/env python3
"""Holds survey.py against a small repository of which it is known what becomes of each program.

    survey_test.py --course PATH
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SURVEY = pathlib.Path(__file__).resolve().parent / "survey.py"

KERNEL = "__global__ void add(int* x) { x[threadIdx.x] += STEP; }\n"
MAIN = ("#include <cstdio>\n#include <helper.h>\nvoid run(int* x);\nint main() {\n  int *x, host = 0;\n"
        "  cudaMalloc(&x, 128);\n  cudaMemset(x, 0, 128);\n  run(x);\n  cudaMemcpy(&host, x, 4, cudaMemcpyDefault);\n"
        "  cudaFree(x);\n  puts(host == HELP ? \"Test PASSED\" : \"Test FAILED\");\n}\n")
FILES = {
    "include/helper.h": "#define HELP 3\n#define STEP 3\n",
    "several/main.cu": MAIN,
    "several/kernels.cu": "#include <helper.h>\n" + KERNEL + "void run(int* x) { add<<<1, 32>>>(x); }\n",
    "wrong/main.cu": "#include <cstdio>\nint main() { puts(\"Result = FAIL\"); }\n",
    "mute/main.cu": "int main() {}\n",
    "library/main.cu": "#include <cufft.h>\nint main() {}\n",
    "broken/main.cu": "int main() { return nothing_here; }\n",
    "host_only/main.cpp": "#include <cuda_runtime.h>\nint main() { return cudaFree(nullptr); }\n",
    "plain/main.cpp": "int main() {}\n",
    "text/notes.cpp": "int no_main;\n",
}


class Survey(unittest.TestCase):
    course = None

    def test_every_program_comes_as_far_as_it_can(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in FILES.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            output = subprocess.run([sys.executable, "-B", str(SURVEY), "--course", self.course, "--check", "-I",
                                     str(root / "include"), "--json", str(root / "out.json"), str(root)],
                                    capture_output=True, encoding="utf-8", check=True).stdout
            results = {result["program"]: result for result in json.loads((root / "out.json").read_text())}
        stages = {name: result["stage"] for name, result in results.items()}
        self.assertEqual(stages, {"several/main.cu": "verified", "wrong/main.cu": "run", "mute/main.cu": "ended",
                                  "host_only/main.cpp": "ended", "library/main.cu": "refused", "broken/main.cu": "compile"})
        self.assertTrue(results["several/main.cu"]["silent"])
        self.assertIn("cuFFT", results["library/main.cu"]["obstacle"])
        self.assertIn("nothing_here", results["broken/main.cu"]["obstacle"])
        self.assertIn("6 programs: 1 refused, 1 compile, 0 time, 1 run, 2 ended, 1 verified", output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--course", required=True)
    Survey.course = str(pathlib.Path(parser.parse_args().course).resolve())
    unittest.main(argv=sys.argv[:1])
