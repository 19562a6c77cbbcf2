#!/usr/bin/env python3
"""Drives what shows kernels in the simulator, simulate, profile and trace, as a person would.

    simulate_test.py COURSE [unittest arguments]
"""

import json
import signal

import driver
from driver import SOLUTION, Case, course, course_on_terminal


class Simulate(Case):
    PROGRAM = """
        #include <cstdio>
        #include <cstdlib>
        #include <cuda_runtime.h>
        __global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }
        int main(int argc, char** argv) {
          int host[4] = {1, 2, 3, 4}, *device = nullptr;
          cudaMalloc(&device, sizeof host);
          cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
          square<<<1, 4>>>(argc > 1 ? nullptr : device);
          cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
          std::printf("%d %d\\n", host[3], argc);
          square<<<1, 4>>>(device);
          return argc > 2 ? std::atoi(argv[2]) : 0;
        }"""

    def simulate(self, *arguments):
        return course("simulate", self.file("square.cu", self.PROGRAM), *arguments)

    def test_runs_and_says_what_never_ran(self):
        result = self.simulate()
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "16 1\n")
        self.assertIn("1 queued operation never ran", result.stderr)

    def test_failed_kernel_is_named_and_changes_the_exit_status(self):
        result = self.simulate("--order", "reverse", "--", "null")
        self.assertEqual(result.returncode, 1)
        self.assertIn("square.cu:5: in square, block (0,0,0), thread (3,0,0) read from a null pointer", result.stderr)

    def test_name_is_that_of_a_program_that_nvcc_has_built(self):
        name = self.file("name.cu", "#include <cstdio>\nint main(int, char** argv) { std::puts(argv[0]); }")
        self.assertEqual(course("simulate", name).stdout, str(name).removesuffix(".cu") + "\n")

    def test_exit_status_is_the_programs_own(self):
        self.assertEqual(self.simulate("--", "null", "7").returncode, 7)

    def test_wrong_usage(self):
        self.assertEqual(course("simulate", self.folder / "none.cu").returncode, 2)
        self.assertEqual(self.simulate("--device", "gtx").returncode, 2)
        self.assertEqual(course("simulate", self.file("no.cu", "int main() { return x; }")).returncode, 1)


class SimulateChecked(Case):
    PROGRAM = """
        #include <cstdio>
        #include <cstdlib>
        #include <unistd.h>
        __global__ void shift(int* x) {
          __shared__ int s[64];
          s[threadIdx.x] = x[threadIdx.x];
          x[threadIdx.x] = s[(threadIdx.x + 32) % 64];
        }
        __global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
        struct Owner { int* p = nullptr; ~Owner() { cudaFree(p); } } owner;
        int main(int argc, char** argv) {
          const char end = argc > 1 ? argv[1][0] : ' ';
          cudaMalloc(&owner.p, 256);
          cudaMemset(owner.p, 0, 256);
          if (end == 'c') copy<<<2, 32>>>(owner.p, owner.p + 32);
          else shift<<<1, 64>>>(owner.p);
          std::printf("%d\\n", cudaDeviceSynchronize());
          if (end == 'l') cudaMalloc(&owner.p, 512);
          if (end == '_') _exit(0);
          if (end == 'q') std::quick_exit(0);
          if (end == 'a') std::abort();
          if (end == 'd') owner.p[0] = 1;
          if (end == 'u') copy<<<0, 32>>>(owner.p, owner.p);
          return end == '7' ? 7 : 0;
        }"""

    def simulate(self, *arguments):
        return course("simulate", *arguments[:-1], self.file("shift.cu", self.PROGRAM), "--", arguments[-1])

    def assert_race(self, result):
        lines = [line for line in result.stderr.splitlines() if ": race: " in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertRegex(lines[0], r"^shift\.cu:\d: error: race: .* shift\.cu:\d")

    def test_finding_is_one_line_with_its_source_and_an_exit_status(self):
        result = self.simulate("--check", " ")
        self.assertEqual((result.returncode, result.stdout), (1, "0\n"))
        self.assert_race(result)
        quoted = result.stderr.splitlines()[1:]  # the lines of both sides
        self.assertEqual(len(quoted), 2, result.stderr)
        for line in quoted:
            self.assertRegex(line, r"^ +\d+ \| \S")
        self.assertNotIn("\033", result.stderr)

    def test_without_check_it_runs_as_ever(self):
        result = self.simulate(" ")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "0\n", ""))

    def test_exit_status_is_the_programs_own_unless_it_is_0(self):
        self.assertEqual(self.simulate("--check", "7").returncode, 7)
        self.assertEqual(self.simulate("--check", "c").returncode, 0)

    def test_findings_come_out_however_the_program_ends(self):
        for end, status in (("_", 1), ("q", 0), ("a", -signal.SIGABRT), ("d", -signal.SIGSEGV)):
            with self.subTest(end):
                result = self.simulate("--check", end)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assert_race(result)

    def test_crash_of_host_code_is_a_finding(self):
        self.assertRegex(self.simulate("--check", "d").stderr, r"shift\.cu:23: error: device_pointer_on_host: host code ")

    def test_leak_is_named_by_the_line_that_allocated(self):
        result = self.simulate("--check", "l")
        self.assertIn("shift.cu:14: error: leak: 256 bytes allocated here were never freed.", result.stderr)
        self.assertNotIn("512", result.stderr)

    def test_refused_launch_that_nobody_noticed(self):
        result = self.simulate("--check", "u")
        self.assertEqual(result.stderr.count("the launch of copy was refused"), 1)
        self.assertIn("shift.cu:24: error: unchecked_error: ", result.stderr)

    def test_profile_stands_beside_the_source(self):
        result = self.simulate("--profile", "c")
        self.assertEqual((result.returncode, result.stdout), (0, "0\n"))
        self.assertIn("copy<<<2, 32>>>", result.stderr)
        self.assertRegex(result.stderr, r"\n +10  __global__ void copy.* +4 +4\.0 +4\.0 +512 +100%\n")
        self.assertIn("No line stands out.", result.stderr)
        for line in result.stderr.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_profile_alone_mentions_that_there_are_findings(self):
        result = self.simulate("--profile", " ")
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 mistake was found meanwhile: --check", result.stderr)
        self.assertNotIn("race:", result.stderr)

    def test_report(self):
        report = self.folder / "report.json"
        self.assertEqual(self.simulate("--report", report, " ").returncode, 1)
        content = json.loads(report.read_text(encoding="utf-8"))
        self.assertEqual(set(content), {"version", "findings", "launches"})
        self.assertEqual(content["findings"][0]["class"], "race")
        self.assertEqual(content["findings"][0]["other"].keys(), {"file", "line", "block", "thread", "calls"})
        self.assertEqual(content["launches"][0]["kernel"], "shift")
        self.assertEqual(content["launches"][0]["total"]["global_load"]["requests"], 2)

    def test_trace(self):
        trace = self.folder / "trace.json"
        self.assertEqual(self.simulate("--trace", trace, "--at", "0,1,0,0", "c").returncode, 0)
        content = json.loads(trace.read_text(encoding="utf-8"))
        self.assertEqual([step["kind"] for step in content["steps"]], ["load", "store"])
        self.assertEqual(content["steps"][0]["array"], "from")
        self.assertEqual(len(content["steps"][0]["lanes"]), 32)

    def test_trace_of_what_never_happens(self):
        result = self.simulate("--trace", self.folder / "trace.json", "--at", "3,0,0,0", "c")
        self.assertEqual(result.returncode, 1)
        self.assertIn("launch 3 was asked for, and there were 1, counted from 0", result.stderr)

    def test_wrong_usage(self):
        trace = self.folder / "trace.json"
        for arguments, words in ((("--at", "0,0,0,0"), "needs --trace"),
                                 (("--trace", trace, "--at", "0,0"), "launch,x,y,z,warp"),
                                 (("--trace", trace, "--at", "0,0,0,0,32"), "launch,x,y,z,warp"),
                                 (("--trace", "-"), "needs a file"),
                                 (("--report", self.folder), "that is a folder"),
                                 (("--report", self.folder / "none" / "r.json"), "there is no folder")):
            with self.subTest(arguments):
                result = self.simulate(*arguments, " ")
                self.assertEqual(result.returncode, 2)
                self.assert_one_message(result, words)

    def test_terminal_gets_wrapped_lines_and_colour(self):
        file = str(self.file("shift.cu", self.PROGRAM))
        _, output = course_on_terminal("simulate", "--check", file)
        self.assertIn("\033[1;31merror:\033[0m race:", output)
        _, output = course_on_terminal("simulate", "--check", file, env={"NO_COLOR": "1"})
        self.assertNotIn("\033[1;31m", output)


class SimulateHeader(Case):
    """Mistakes that show in a header are told with the line of the .cu file that led there."""

    HEADER = """#pragma once
        __device__ __noinline__ float element(const float* x, int i) {
          return x[i];
        }
        __device__ inline void copy_element(float* y, const float* x, int i) {
          y[i] = element(x, i);
        }
        __device__ __noinline__ void wait() {
          if (threadIdx.x > 0) __syncthreads();
        }"""
    PROGRAM = """#include "header.hpp"
        __global__ void read(float* y, const float* x) {
          const int i = threadIdx.x;
          copy_element(y, x, i);
          y[i] += element(x, i % 8);
          y[i] += element(x, i + 8);
        }
        __global__ void barrier() {
          wait();
          __syncthreads();
        }
        int main(int argc, char** argv) {
          float *x, *y;
          cudaMalloc(&x, 16 * sizeof(float));
          cudaMalloc(&y, 16 * sizeof(float));
          cudaMemset(x, 0, (argc > 1 ? 8 : 16) * sizeof(float));
          read<<<1, 16>>>(y, argc > 2 ? nullptr : x);
          if (argc == 1) barrier<<<1, 64>>>();
          const bool failed = cudaDeviceSynchronize() != cudaSuccess;
          cudaFree(x), cudaFree(y);
          return failed;
        }"""

    def setUp(self):
        super().setUp()
        self.file("header.hpp", self.HEADER)

    def simulate(self, *arguments):
        return course("simulate", *arguments[:1], self.file("program.cu", self.PROGRAM), "--", *arguments[1:]).stderr

    def test_out_of_bounds_names_the_call_that_went_wrong(self):
        text = self.simulate("--check")
        self.assertRegex(text, r"program\.cu:6: error: out_of_bounds: in element\(\) \(header\.hpp:3\), ")
        self.assertRegex(text, r"program\.cu:9: warning: divergent_barrier: in wait\(\) \(header\.hpp:9\), ")
        self.assertNotIn("program.cu:5", text)

    def test_uninitialised_read_names_the_first_call(self):
        self.assertRegex(self.simulate("--check", "half"),
                         r"program\.cu:4: error: uninitialised_read: in element\(\) \(header\.hpp:3\), ")  # fmt: skip

    def test_a_fault_names_the_call_without_check_mode(self):
        text = course("simulate", self.file("program.cu", self.PROGRAM), "--", "1", "2").stderr
        self.assertRegex(text, r"program\.cu:4: in read, .*, in element\(\) \(header\.hpp:3\), read")

    def test_json_has_the_place_or_null(self):
        report = self.folder / "findings.json"
        course("simulate", "--report", report, self.file("program.cu", self.PROGRAM))
        findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
        places = {finding["line"]: finding["called_from"] for finding in findings}
        self.assertEqual(places, {3: "program.cu:6", 9: "program.cu:9", 10: None})


class Profile(Case):
    def test_solution(self):
        result = course("profile", "01", "--solution")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r'^Lesson 01, case "')
        self.assertRegex(result.stdout, r"vector_add_kernel<<<\d+, 256>>>")
        self.assertRegex(result.stdout, r"\d  c\[i\] = a\[i\] \+ b\[i\]; .* 4\.0 +4\.0 .* 100%")
        self.assertIn("No line stands out.", result.stdout)
        for line in result.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertNotIn("\033", result.stdout)

    def test_json(self):
        result = course("profile", "01", "--solution", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        content = json.loads(result.stdout)
        self.assertEqual(set(content), {"version", "lesson", "case", "launches"})
        total = content["launches"][0]["total"]
        self.assertEqual(total["global_load"]["requests"], 2 * total["global_store"]["requests"])

    def test_one_case(self):
        result = course("profile", "01", "--solution", "--case", "ten numbers")
        self.assertIn('case "adds the ten numbers of the notes"', result.stdout)

    def test_case_that_is_not_there(self):
        result = course("profile", "01", "--solution", "--case", "eleven numbers")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertIn("adds the ten numbers of the notes", result.stderr)

    def test_stub_launches_nothing(self):
        result = course("profile", "01")
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "no kernel ran")

    def test_wrong_usage(self):
        for arguments in (("profile",), ("profile", "nope"), ("profile", "01", "--solution", "--file", SOLUTION),
                          ("profile", "01", "--file", self.folder / "none.cu"),
                          ("profile", "01", "--json", self.folder / "none" / "p.json")):
            with self.subTest(arguments):
                self.assertEqual(course(*arguments).returncode, 2)

    def test_help_has_examples(self):
        for command in ("gradcheck", "profile", "simulate", "trace"):
            result = course(command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn(f"\n  ./course {command} ", result.stdout)
            for line in result.stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)


class Trace(Case):
    def test_one_warp(self):
        file = self.folder / "trace.json"
        result = course("trace", "01", "--solution", "--at", "0,1,0,0,2", "--out", file)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        trace = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual(trace["request"], {"launch": 0, "block": [1, 0, 0], "warp": 2, "most_steps": 10000})
        self.assertEqual([(step["kind"], step["array"]) for step in trace["steps"][:3]],
                         [("load", "a"), ("load", "b"), ("store", "c")])
        lane = trace["steps"][0]["lanes"][5]
        self.assertEqual((lane["thread"], lane["index"]), ([69, 0, 0], [256 + 69]))

    def test_one_case_to_standard_output(self):
        result = course("trace", "01", "--solution", "--case", "255, 256", "--out", "-")
        self.assertEqual(json.loads(result.stdout)["kernel"], "vector_add_kernel")

    def test_block_that_is_never_launched(self):
        result = course("trace", "01", "--solution", "--at", "0,0,7,0", "--out", "-")
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "No test case makes a call in which 0,0,7,0 is run")

    def test_wrong_usage(self):
        for arguments in ((), ("--at", "1", "--out", "-"), ("--out", self.folder),
                          ("--solution", "--file", SOLUTION, "--out", "-")):
            with self.subTest(arguments):
                self.assertEqual(course("trace", "01", *arguments).returncode, 2)


if __name__ == "__main__":
    driver.main()
