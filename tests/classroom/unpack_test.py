#!/usr/bin/env python3
"""What common/classroom/unpack_submissions.py makes of zips, most of them hostile.

Usage: unpack_test.py
"""

import io
import json
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "common" / "classroom" / "unpack_submissions.py"
MIB = 1 << 20
NOON = (2026, 11, 20, 12, 0, 0)
LINK = stat.S_IFLNK | 0o777


def entry(name, mode=stat.S_IFREG | 0o644, compress=zipfile.ZIP_DEFLATED, date=NOON):
    info = zipfile.ZipInfo(name, date)
    info.external_attr = mode << 16
    info.compress_type = compress
    return info


class Case(unittest.TestCase):
    """A zip and the folder it is unpacked to."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.target = self.folder / "target"

    def pack(self, *entries):
        """The bytes of a zip; an entry is a name or a ZipInfo, and its content."""
        data = io.BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(data, "w") as archive:
            warnings.simplefilter("ignore")  # duplicate names are meant
            for name, content in entries:
                archive.writestr(entry(name) if isinstance(name, str) else name, content)
        return data.getvalue()

    def run_script(self, *arguments, environment=None):
        return subprocess.run([sys.executable, "-I", "-X", "utf8", str(SCRIPT), *map(str, arguments)], timeout=120,
                              capture_output=True, text=True, check=False, env=environment)

    def unpack(self, data, *options):
        """What the script says about a zip of these bytes."""
        path = self.folder / "submission.zip"
        path.write_bytes(data)
        ended = self.run_script(*options, path, self.target)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        report = json.loads(ended.stdout)
        self.assertEqual(set(report), {"problem", "left_out", "ignored"})
        for left_out in report["left_out"]:
            self.assertRegex(left_out["sentence"], r"^[^\n]+\.$")
        return report

    def files(self):
        """What lies in the target, by its path."""
        return {path.relative_to(self.target).as_posix(): path.read_bytes()
                for path in self.target.rglob("*") if not path.is_dir()}

    def assert_left_out(self, report, file, words):
        sentences = [entry["sentence"] for entry in report["left_out"] if entry["file"] == file]
        self.assertEqual(len(sentences), 1, report)
        self.assertIn(words, sentences[0])


class OrdinaryZips(Case):
    def test_writes_cu_files_only_and_says_what_it_ignored(self):
        report = self.unpack(self.pack(("work/01_vector_add.cu", "add"), ("work/B.CU", "b"), ("report.pdf", "pdf"),
                                       ("x.zip", "zip")))
        self.assertEqual(self.files(), {"work/01_vector_add.cu": b"add", "work/B.CU": b"b"})
        self.assertEqual(report, {"problem": "", "left_out": [], "ignored": ["report.pdf", "x.zip"]})

    def test_passes_over_what_is_hidden(self):
        report = self.unpack(self.pack(("__MACOSX/._a.cu", "x"), (".git/a.cu", "x"), ("a/.b.cu", "x"),
                                       (".DS_Store", ""), (".../a.cu", "dots")))
        self.assertEqual(self.files(), {".../a.cu": b"dots"})
        self.assertEqual(report["left_out"], [])

    def test_keeps_times(self):
        self.unpack(self.pack(("a.cu", "x"), (entry("b.cu", date=(1980, 1, 1, 0, 0, 0)), "x")))
        expected = int(time.mktime((*NOON, 0, 0, -1)))
        self.assertEqual((self.target / "a.cu").stat().st_mtime, expected)
        self.assertEqual((self.target / "b.cu").stat().st_mtime, 0)

    def test_prefers_a_time_without_a_time_zone(self):
        info = entry("a.cu")
        info.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_700_000_000)
        self.unpack(self.pack((info, "x")))
        self.assertEqual((self.target / "a.cu").stat().st_mtime, 1_700_000_000)

    def test_takes_a_date_that_cannot_be_for_none(self):
        data = bytearray(self.pack(("a.cu", "x")))
        for at in (10, data.rindex(b"PK\x01\x02") + 12):
            data[at:at + 4] = b"\xff\xff\xff\xff"
        self.unpack(bytes(data))
        self.assertEqual((self.target / "a.cu").stat().st_mtime, 0)

    def test_makes_folders_of_which_nothing_is_written(self):
        self.unpack(self.pack(("ada/", ""), ("bo/report.pdf", "x"), (entry("cy/a.cu", LINK), "/etc/passwd")))
        self.assertEqual(sorted(path.name for path in self.target.iterdir()), ["ada", "bo", "cy"])

    def test_takes_backslashes_for_slashes(self):
        self.unpack(self.pack(("work\\a.cu", "x")))
        self.assertEqual(self.files(), {"work/a.cu": b"x"})

    def test_keeps_names_of_all_kinds(self):
        names = ["=cmd|' ' C calc'!A0.cu", "a\nb.cu", "-rf.cu", "\u59d3\u540d.cu", ".../a.cu"]
        report = self.unpack(self.pack(*((name, "x") for name in names)))
        self.assertEqual(set(self.files()), set(names))
        self.assertEqual(report["left_out"], [])

    def test_writes_zips_of_a_class(self):
        self.unpack(self.pack(("class/ada.zip", "zip"), ("class/bo/a.cu", "x"), ("class/x.pdf", "x")), "--class")
        self.assertEqual(self.files(), {"class/ada.zip": b"zip", "class/bo/a.cu": b"x"})


class HostileNames(Case):
    def test_nothing_leaves_the_folder(self):
        names = ["../a.cu", "x/../../b.cu", "/tmp/c.cu", "..\\d.cu", "C:\\e.cu", "C:/f.cu", "\\\\host\\share\\g.cu",
                 ".."]
        report = self.unpack(self.pack(*((name, "x") for name in names)))
        self.assertEqual(self.files(), {})
        self.assertEqual(sorted(os.listdir(self.folder)), ["submission.zip", "target"])
        self.assertEqual(len(report["left_out"]), len(names))
        self.assertEqual({entry["file"] for entry in report["left_out"]}, {""})

    def test_links_and_devices_are_not_made(self):
        report = self.unpack(self.pack((entry("a.cu", LINK), "/etc/passwd"), (entry("d", LINK), "/etc"),
                                       ("d/b.cu", "x"), (entry("pipe.cu", stat.S_IFIFO | 0o644), ""),
                                       (entry("disk.cu", stat.S_IFBLK | 0o644), "")))
        self.assertEqual(self.files(), {"d/b.cu": b"x"})
        self.assertFalse((self.target / "d").is_symlink())
        self.assert_left_out(report, "a.cu", "is a symbolic link; hand in the file itself")
        self.assert_left_out(report, "pipe.cu", "is not an ordinary file")
        self.assert_left_out(report, "disk.cu", "is not an ordinary file")

    def test_of_names_that_come_twice_none_is_written(self):
        report = self.unpack(self.pack(("a.cu", "1"), ("a.cu", "2"), ("b//c.cu", "3"), ("./b/c.cu", "4"),
                                       ("d.cu", "5")))
        self.assertEqual(self.files(), {"d.cu": b"5"})
        self.assert_left_out(report, "a.cu", "more than once")
        self.assert_left_out(report, "b/c.cu", "more than once")

    def test_a_file_that_is_also_a_folder(self):
        report = self.unpack(self.pack(("a.cu", "file"), ("a.cu/b.cu", "x"), ("c.cu/", ""), ("c.cu", "x")))
        self.assertEqual(self.files(), {"a.cu": b"file"})
        self.assert_left_out(report, "a.cu/b.cu", "has a name that cannot be used")
        self.assert_left_out(report, "c.cu", "has a name that cannot be used")

    def test_names_that_are_too_long_or_too_deep(self):
        deep = "d/" * 17 + "a.cu"
        report = self.unpack(self.pack(("x" * 300 + ".cu", "x"), ("y" * 300 + "/a.cu", "x"), (deep, "x"), ("a.cu", "x"),
                                       ("d/" * 16 + "b.cu", "x")))
        self.assertEqual(self.files(), {"a.cu": b"x", "d/" * 16 + "b.cu": b"x"})
        self.assertEqual(len(report["left_out"]), 3)
        self.assert_left_out(report, deep, "more than 16 folders deep")


class HostileContent(Case):
    def test_a_file_may_have_one_mebibyte(self):
        report = self.unpack(self.pack(("a.cu", b"x" * MIB), ("b.cu", b"x" * (MIB + 1))))
        self.assertEqual(list(self.files()), ["a.cu"])
        self.assert_left_out(report, "b.cu", "is larger than 1 MiB")

    def test_a_bomb_is_stopped(self):
        bomb = self.pack(*((f"{number:03}.cu", bytes(MIB)) for number in range(100)))
        self.assertLess(len(bomb), MIB)
        report = self.unpack(bomb)
        self.assertEqual(len(self.files()), 64)
        self.assert_left_out(report, "", "unpacks to more than 64 MiB")

    def unpack_small_class(self, whole, share, *entries):
        """The limits of a class are too large for a test; with these, it is the same."""
        sys.path.insert(0, str(SCRIPT.parent))
        self.addCleanup(sys.path.remove, str(SCRIPT.parent))
        import unpack_submissions as script  # pylint: disable=import-outside-toplevel
        path = self.folder / "class.zip"
        path.write_bytes(self.pack(*entries))
        self.target.mkdir()
        limits = script.CLASS._replace(whole=script.Size(*whole), share=script.Size(*share))
        return script.unpack(path, self.target, limits).left_out

    def test_one_student_does_not_use_up_what_a_class_has(self):
        zips = [(f"abelaaron_101_{number}_data.zip", bytes(MIB)) for number in range(6000, 6008)]
        names = {"abelaaron_101_5001_vector_add.cu", "hoppergrace_102_5002_vector_add.cu", "limaana_103_5003_work.zip"}
        left_out = self.unpack_small_class((100, 4 * MIB), (50, 2 * MIB), *zips, *((name, "x") for name in names))
        self.assertEqual(set(self.files()), names | {zips[0][0]})
        self.assertEqual([entry["file"] for entry in left_out], [zips[1][0]])
        self.assertIn("is past the 2 MiB that a student's files may unpack to", left_out[0]["sentence"])

    def test_one_student_does_not_use_up_the_files_of_a_class(self):
        mine = [(f"class/abel/{number}.txt", "x") for number in range(10)]
        left_out = self.unpack_small_class((10, MIB), (5, MIB), *mine, ("class/bo/a.cu", "x"), ("class/cy/a.cu", "x"))
        self.assertEqual(set(self.files()), {"class/bo/a.cu", "class/cy/a.cu"})
        self.assertEqual([entry["file"] for entry in left_out], ["class/abel/5.txt"])

    def test_whom_a_class_that_is_too_large_cuts_off(self):
        left_out = self.unpack_small_class((100, 2 * MIB), (50, MIB), ("ada_1_assignsubmission_file/a.cu", bytes(MIB)),
                                           ("bo/a.cu", bytes(MIB)), ("cy/a.cu", "x"), ("cy/b.cu", "x"), ("di.zip", "z"))
        self.assertEqual(set(self.files()), {"ada_1_assignsubmission_file/a.cu", "bo/a.cu"})
        self.assertEqual([entry["file"] for entry in left_out if entry.get("cut_off")], ["cy/a.cu", "di.zip"])

    def test_what_a_student_calls_a_file_does_not_change_whose_it_is(self):
        zips = [(f"abelaaron_101_{n}_hoppergrace_{n}_{n}_x.zip", bytes(MIB)) for n in range(4)]
        moodle = [(f"Abel Aaron_101_assignsubmission_file_x_{n}_{n}_x.zip", bytes(MIB)) for n in range(4)]
        self.unpack_small_class((100, 64 * MIB), (50, MIB), *zips, *moodle)
        self.assertEqual(len(self.files()), 2)

    def test_a_folder_of_moodle_ends_in_its_own_mark(self):
        own = "Bo_77_assignsubmission_file_x_99_assignsubmission_file"
        self.unpack_small_class((100, 64 * MIB), (50, MIB), (f"{own}/a.cu", bytes(MIB)),
                                ("Bo_77_assignsubmission_file/a.cu", "x"))
        self.assertEqual(len(self.files()), 2)

    def test_long_names_leave_room_for_others(self):
        files = [(f"{student}/{chr(1) * 60000}{number}.cu", "x") for student in "ab" for number in range(30)]
        deep = [("c/" + "/".join(["d" * 200] * 19) + "/a.cu", "x")]
        report = self.unpack(self.pack(*files, *deep, ("e/a.cu", "x")), "--class")
        self.assertEqual(set(self.files()), {"e/a.cu"})
        self.assertEqual({path.name for path in self.target.iterdir()}, set("abce"))
        self.assertLess(len(json.dumps(report)), 100_000)
        self.assertEqual([entry["file"][:2] for entry in report["left_out"]], ["a/"] * 20 + ["b/"] * 20 + ["c/", ""])

    def test_what_is_ignored_in_a_class_is_named_for_each_student(self):
        files = [(f"class/a/{number}.pdf", "x") for number in range(300)]
        report = self.unpack(self.pack(*files, ("class/b/.x/a.cu", "x"), ("class/c/a.cu", "x"),
                                       ("class/__MACOSX/d/a.cu", "x")), "--class")
        self.assertEqual(len(report["ignored"]), 21)
        self.assertIn("class/b/.x/a.cu", report["ignored"])
        self.assertEqual({path.name for path in (self.target / "class").iterdir()}, set("abc"))

    def test_one_large_file_is_stopped_at_its_own_limit(self):
        started = time.monotonic()
        report = self.unpack(self.pack(("a.cu", bytes(256 * MIB)), ("b.cu", "x")))
        self.assertEqual(self.files(), {"b.cu": b"x"})
        self.assert_left_out(report, "a.cu", "is larger than 1 MiB")
        self.assertLess(time.monotonic() - started, 60)

    def test_the_size_that_a_zip_claims_is_not_believed(self):
        data = self.pack(("a.cu", bytes(2 * MIB)))
        lying = data.replace(struct.pack("<I", 2 * MIB), struct.pack("<I", 5))
        self.assertNotEqual(lying, data)
        self.unpack(lying)
        self.assertEqual(self.files(), {})

    def test_entries_that_share_their_data(self):
        data = bytearray(self.pack(("a.cu", "x" * 100), ("b.cu", "y" * 100)))
        second = data.rindex(b"PK\x01\x02")
        data[second + 42:second + 46] = bytes(4)  # the second entry's content is the first one's
        report = self.unpack(bytes(data))
        self.assertNotIn("b.cu", self.files())
        self.assert_left_out(report, "b.cu", "is damaged")

    def test_encrypted_entries(self):
        data = bytearray(self.pack(("a.cu", "x"), ("b.cu", "y")))
        first = data.index(b"PK\x01\x02")
        data[first + 8] |= 1
        report = self.unpack(bytes(data))
        self.assertEqual(self.files(), {"b.cu": b"y"})
        self.assert_left_out(report, "a.cu", "is encrypted")

    def test_other_ways_of_compression_are_refused_before_they_unpack(self):
        report = self.unpack(self.pack((entry("a.cu", compress=zipfile.ZIP_BZIP2), bytes(100 * MIB)),
                                       (entry("b.cu", compress=zipfile.ZIP_LZMA), bytes(100 * MIB)),
                                       (entry("c.cu", compress=zipfile.ZIP_STORED), "x")))
        self.assertEqual(self.files(), {"c.cu": b"x"})
        self.assert_left_out(report, "a.cu", "compressed in an unusual way")
        self.assert_left_out(report, "b.cu", "compressed in an unusual way")

    def test_a_wrong_checksum(self):
        data = self.pack((entry("a.cu", compress=zipfile.ZIP_STORED), "content"), ("b.cu", "x"))
        report = self.unpack(data.replace(b"content", b"CONTENT"))
        self.assertEqual(self.files(), {"b.cu": b"x"})
        self.assert_left_out(report, "a.cu", "is damaged")

    def test_too_many_entries(self):
        names = [f"{number:04}.cu" for number in range(2005)]
        report = self.unpack(self.pack(*((name, "x") for name in reversed(names)), (".git/x.cu", "x")))
        self.assertEqual(sorted(self.files()), names[:2000])
        self.assert_left_out(report, "", "more than 2000 files")

    def test_long_lists_are_cut(self):
        report = self.unpack(self.pack(*((f"../{number}.cu", "x") for number in range(500))))
        self.assertEqual(len(report["left_out"]), 201)
        self.assertEqual(report["left_out"][-1]["sentence"], "300 more files were left out.")

    def test_names_do_not_break_the_report(self):
        report = self.unpack(self.pack((entry("a\x1b[2J\nPASS.cu", LINK), "x")))
        self.assertEqual(report["left_out"][0]["sentence"],
                         "a\\x1b[2J\\nPASS.cu is a symbolic link; hand in the file itself.")


class NoZips(Case):
    def test_what_is_no_zip_is_told(self):
        for data in (b"", b"hello", b"PK\x03\x04", b"PK\x05\x06" + bytes(18 - 4), b"Rar!\x1a\x07"):
            shutil.rmtree(self.target, ignore_errors=True)
            self.assertEqual(self.unpack(data)["problem"], "It is not a zip, or it is damaged.")

    def test_no_damage_is_more_than_damage(self):
        whole = self.pack(("work/a.cu", "some text " * 50), ("b.cu", "x"), (entry("l.cu", LINK), "/etc/passwd"))
        for at in range(0, len(whole), 7):
            shutil.rmtree(self.target, ignore_errors=True)
            damaged = bytearray(whole)
            damaged[at] ^= 0xff
            self.unpack(bytes(damaged))
            for path in self.target.rglob("*"):
                self.assertFalse(path.is_symlink())
        for size in range(0, len(whole), 40):
            shutil.rmtree(self.target, ignore_errors=True)
            self.unpack(whole[:size])

    def test_the_machine_is_told_apart_from_the_zip(self):
        path = self.folder / "a.zip"
        path.write_bytes(self.pack(("a.cu", "x")))
        self.assertEqual(self.run_script(self.folder / "none.zip", self.target).returncode, 3)
        (self.folder / "full").mkdir()
        (self.folder / "full" / "x").write_text("x", encoding="utf-8")
        self.assertEqual(self.run_script(path, self.folder / "full").returncode, 2)
        (self.folder / "file").write_text("x", encoding="utf-8")
        self.assertEqual(self.run_script(path, self.folder / "file").returncode, 3)
        self.assertEqual(self.run_script(path).returncode, 2)

    def test_the_language_of_the_machine_does_not_matter(self):
        path = self.folder / "a.zip"
        path.write_bytes(self.pack(("\u59d3.cu", "x")))
        ended = self.run_script(path, self.target, environment={"LC_ALL": "C", "PATH": os.environ["PATH"]})
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(set(self.files()), {"\u59d3.cu"})


if __name__ == "__main__":
    unittest.main()
