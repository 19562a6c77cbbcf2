"""Programs in the place of those that profiling needs, and the module that reads ncu's reports."""

import sys

NVCC = f"""#!{sys.executable}
import pathlib, sys
folder = pathlib.Path(sys.argv[0]).resolve().parent
if sys.argv[1] == "--version":
    print("Cuda compilation tools, release 13.0, V13.0.88")
    sys.exit(0)
broken = folder / "does_not_compile"
if broken.exists() and broken.read_text() in " ".join(sys.argv):
    sys.exit("an error of the example")
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text("a program")
"""

NCU_REPORT = '''
import json
import pathlib

SASS = {16: "      LDG.E.64 R2, [R2.64] ;", 32: "@!P0 BAR.SYNC.DEFER_BLOCKING 0x0 ;", 48: "      FFMA R0, R1, R2, R3 ;",
        64: "      HMMA.1688.F32.TF32 R4, R8, R12, R4 ;"}


class Place:
    def __init__(self, line):
        self.number = line

    def file_name(self):
        return "/somewhere/example.cu"

    def line(self):
        return self.number


class Addresses:
    def __init__(self, addresses):
        self.addresses = addresses

    def as_uint64(self, instance):
        return self.addresses[instance]


class Metric:
    def __init__(self, value, instances):
        self.value, self.instances = value, {int(address): number for address, number in (instances or {}).items()}

    def as_double(self, instance=None):
        return float(self.value if instance is None else list(self.instances.values())[instance])

    def num_instances(self):
        return len(self.instances)

    def correlation_ids(self):
        return Addresses(list(self.instances))


class Action:
    NameBase_DEMANGLED = 1

    def __init__(self, report):
        self.report = report

    def name(self, base):
        return "void course::<unnamed>::example_kernel<(int)64>(float *)"

    def metric_names(self):
        return [*self.report["values"], *self.report["instances"]]

    def metric_by_name(self, name):
        return Metric(self.report["values"].get(name), self.report["instances"].get(name))

    def sass_by_pc(self, address):
        return SASS[address]

    def source_info(self, address):
        return Place(7 if address == 16 else 8)


class Context:
    def __init__(self, report):
        self.report = report

    def num_ranges(self):
        return 1

    def range_by_idx(self, number):
        return [Action(self.report)]


def load_report(file):
    return Context(json.loads(pathlib.Path(file).read_text(encoding="utf-8")))
'''

# Builds every lesson, and profiles every case: a launch whose loads are narrower than the machine code's.
COURSE = f"""#!{sys.executable}
import json, sys
if sys.argv[1] == "build":
    for word in sys.argv[2:sys.argv.index("--backend")]:
        print(f"ok    {{int(word):02}}_example  unchanged  /bin/true")
    sys.exit(0)
load = {{"global_load": {{"requests": 4, "sectors": 16, "ideal_sectors": 16, "bytes_asked": 512, "bytes": 512}}}}
launch = {{"kernel": "example_kernel<64>", "grid": [2, 1, 1], "block": [64, 1, 1], "total": load | {{"barriers": 2}},
          "lines": [{{"file": "solutions/01/example.cu", "line": 7, "counters": load}},
                    {{"file": "solutions/01/example.cu", "line": 8, "counters": {{"barriers": 2}}}}]}}
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    json.dump({{"version": 1, "launches": [launch]}}, file)
"""
