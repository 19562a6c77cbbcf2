#!/usr/bin/env python3
"""Unpacks a zip that a student, or a learning platform, packed; trusts nothing in it.

Usage: python3 -I unpack_submissions.py [--class] ZIP FOLDER

Writes regular files that end in .cu below FOLDER, which is made if need be and must be empty, with the times that the
zip has for them. With --class, ZIP holds the files of many students: zips in it are written as well, and the limits
are wider. Folders are made also where nothing of their content is written, so that no student is lost.

Prints one JSON object on standard output:
  problem   why nothing was unpacked, in a sentence; empty if something was
  left_out  what should have been unpacked and was not: a list of {file, sentence}; file is its path, shortened
            where it is long, and empty if its name is not fit to be one. With "cut_off": true, the class is too large:
            an entry for each student of whom something is left out for that
  ignored   names of files that no lesson wants, such as reports and pictures, and of hidden .cu files

Exit status: 0 if the zip was dealt with, however bad it is; 2 for wrong usage; 3 if this machine cannot do its part.
"""

import argparse
import calendar
import collections
import errno
import json
import os
import re
import resource
import stat
import struct
import sys
import time
import zipfile
import zlib

MIB = 1 << 20
CHUNK = 1 << 16
# What files may come to: how many files and folders, how many bytes when they are unpacked.
Size = collections.namedtuple("Size", "entries total")
# What a student's zip may come to, and what that of a whole class. `share` is a student's part of it, so that nobody
# takes the others' room; `largest` is by the end of a file's name; `listed` is how many files of a student are named,
# the rest is counted.
Limits = collections.namedtuple("Limits", "whole share depth largest listed memory seconds")
STUDENT = Limits(Size(2000, 64 * MIB), Size(2000, 64 * MIB), 16, {".cu": MIB}, 200, 1024 * MIB, 60)
CLASS = Limits(Size(200_000, 4096 * MIB), Size(10_000, 128 * MIB), 18,
               {".cu": MIB, ".zip": 64 * MIB, "submission_metadata.yml": 16 * MIB}, 20, 2048 * MIB, 600)

# How Canvas and Moodle begin the names of a student's files. What follows is the student's own.
BY_PLATFORM = (re.compile(r"(.+?_(?:late_)?(?:[0-9]+|[a-z0-9]{5}))_[0-9]+_", re.IGNORECASE),
               re.compile(r"(.+?_[0-9]+)_assignsubmission_"))
# How Moodle ends the name of a student's folder, with nothing of the student's behind it: the last one counts.
MOODLE_FOLDER = re.compile(r"(.+_[0-9]+)_assignsubmission_")
# The longest name that a file or folder may have on the systems that the course knows, in bytes.
LONGEST_NAME = 255

# What reading a damaged zip may raise. zipfile promises BadZipFile, but lets others through.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, struct.error,
           KeyError, IndexError, OverflowError)


def require_damage(error):
    """Raises errors of the machine again. A position that cannot be is the zip's fault."""
    if isinstance(error, OSError) and error.errno != errno.EINVAL:
        raise error


class Refused(Exception):
    """An entry that is not unpacked; the text says why, and what to do."""


class Spent(Refused):
    """So is this one, and what comes after it of its student."""


class Stopped(Exception):
    """The zip is past a limit; nothing more is unpacked."""


def shown(name):
    """The name on one line, for people: control characters and lone surrogates as \\x or \\u codes."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in name)
    return text if len(text) <= 200 else text[:200] + "..."


def size_in_words(size):
    return f"{size // MIB} MiB"


class Report:
    """What is told about the zip."""

    def __init__(self, listed):
        self.problem = ""
        self.left_out = []
        self.ignored = []
        self.more = 0
        self.listed = listed
        self.counts = collections.Counter()  # by student, as the next one
        self.ignored_counts = collections.Counter()

    def leave_out(self, file, sentence, student=""):
        self.counts[student] += 1
        if self.counts[student] <= self.listed:
            self.left_out.append({"file": file, "sentence": sentence})
        else:
            self.more += 1

    def cut_off(self, file, sentence):
        self.left_out.append({"file": file, "sentence": sentence, "cut_off": True})

    def ignore(self, file, student):
        self.ignored_counts[student] += 1
        if self.ignored_counts[student] <= self.listed:
            self.ignored.append(file)

    def print(self):
        left_out = list(self.left_out)
        if self.more:
            files = "file was" if self.more == 1 else "files were"
            left_out.append({"file": "", "sentence": f"{self.more} more {files} left out."})
        print(json.dumps({"problem": self.problem, "left_out": left_out, "ignored": self.ignored}))


def parts_of(name):
    """The folders and the file that an entry's name says. Refused if the name leads anywhere else."""
    # Some programs on Windows write backslashes, and zipfile leaves them.
    name = name.replace("\\", "/")
    if name.startswith("/") or name[1:3] == ":/":
        raise Refused(f"{shown(name)} has an absolute path; pack the folder itself, not its path.")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Refused(f"{shown(name)} leads out of the zip; pack the folder itself, without \"..\" in a path.")
    return parts


def is_hidden(parts):
    """Whether a system or a tool put it there, such as __MACOSX, .DS_Store and .git."""
    return any(part == "__MACOSX" or (part.startswith(".") and part.strip(".")) for part in parts)


def is_of_tool(parts):
    """Whether what is hidden there is nobody's work."""
    return any(part == "__MACOSX" or part.startswith(("._", ".git", ".ipynb_checkpoints", ".vscode", ".idea"))
               for part in parts)


def require_ordinary(info, name):
    """Refuses what is neither a file nor a folder, and what cannot be read."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise Refused(f"{shown(name)} is a symbolic link; hand in the file itself.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or (kind == stat.S_IFDIR and not info.is_dir()):
        raise Refused(f"{shown(name)} is not an ordinary file; hand in the file itself.")
    if info.is_dir():
        return
    if info.flag_bits & 0x1:
        raise Refused(f"{shown(name)} is encrypted; pack it again without a password.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(f"{shown(name)} is compressed in an unusual way; pack it again as an ordinary zip.")


def universal_time(extra):
    """Seconds since 1970 from the field that Info-ZIP and others add to an entry, or None."""
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return struct.unpack_from("<i", extra, 5)[0]
        extra = extra[4 + size:]
    return None


def modified(info):
    """When the file was last changed, in seconds since 1970; 0 if the zip does not say."""
    seconds = universal_time(info.extra)
    if seconds is not None:
        return max(seconds, 0)
    try:
        calendar.weekday(*info.date_time[:3])
        if info.date_time[:3] == (1980, 1, 1):  # the earliest that the format can say stands for no time
            return 0
        return max(int(time.mktime((*info.date_time, 0, 0, -1))), 0)
    except (ValueError, OverflowError):
        return 0


def student_of(name, is_folder):
    """Whose a file or folder in the top folder of a class is, by what the student cannot choose of its name."""
    if is_folder:
        match = MOODLE_FOLDER.match(name)
        return match[1] if match else name
    found = [match[1] for match in (pattern.match(name) for pattern in BY_PLATFORM) if match]
    return min(found, key=len, default=name)


class Written:
    """What came out of the zip so far, as Size has it."""

    def __init__(self):
        self.entries = self.total = 0


class Unpacker:
    """Writes a zip's entries below a folder, and counts what they come to."""

    def __init__(self, archive, folder, limits, report):
        self.archive = archive
        self.folder = folder
        self.limits = limits
        self.report = report
        self.of_class = limits.whole != limits.share
        self.whole = Written()
        self.shares = collections.defaultdict(Written)  # by student
        self.top = 0  # where in its path the name of an entry's student is
        self.told = set()
        self.hidden = []  # .cu files

    def run(self):
        entries = self.entries()
        self.top = 1 if len({parts[0] for parts, _ in entries}) == 1 else 0
        self.take_hidden()
        counts = collections.Counter(parts for parts, info in entries if not info.is_dir())
        spent = set()  # students
        for index, (parts, info) in enumerate(entries):
            name, student = "/".join(parts), self.student(parts)
            if student in spent:
                self.make_folder(parts[:-1])
                continue
            try:
                self.count_entry(name, student)
                require_ordinary(info, name)
                if counts[parts] > 1:
                    raise Refused(f"{shown(name)} is in the zip more than once; pack it again.")
                self.unpack(parts, info)
            except Refused as reason:
                if isinstance(reason, Spent):
                    spent.add(student)
                self.leave_out(parts, name, reason)
            except Stopped as reason:
                self.stop(entries[index:], spent, str(reason))
                return

    def stop(self, rest, spent, sentence):
        """Tells that the rest is not unpacked; in a class, to each student who has no part in that."""
        self.report.leave_out("", sentence)
        first = {}
        for parts, _ in rest:
            first.setdefault(self.student(parts), self.place(parts))
        for student, name in first.items():
            if self.of_class and student not in spent:
                self.report.cut_off(name, sentence)

    def student(self, parts):
        at = min(self.top, len(parts) - 1)
        return student_of(parts[at], at + 1 < len(parts)) if self.of_class else ""

    def place(self, parts):
        """Where an entry lies: exactly as far as its student's name goes, then as people read it, and never long."""
        own = self.top + 1 if self.of_class else 0
        if any(len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in parts[:own]):
            return ""
        folders, name = parts[own:-1], parts[max(own, len(parts) - 1):]
        return "/".join([*parts[:own], *([shown("/".join(folders))] if folders else []), *map(shown, name)])

    def count_entry(self, name, student):
        most, share = self.limits.whole.entries, self.limits.share.entries
        self.whole.entries += 1
        self.shares[student].entries += 1
        if self.whole.entries > most:
            raise Stopped(f"The zip has more than {most} files and folders; only the first ones in the order of their "
                          "names were unpacked. Hand in only your .cu files.")
        if self.shares[student].entries > share:
            raise Spent(f"{shown(name)} is past the {share} files and folders that a student may have in the zip of a "
                        "class; hand in only your .cu files.")

    def leave_out(self, parts, name, reason):
        """A file that appears twice is told once, and one that nobody wants not at all, unless others follow it."""
        told = (name, str(reason))
        if (self.wanted(name) or isinstance(reason, Spent)) and told not in self.told:
            self.told.add(told)
            self.report.leave_out(self.place(parts), told[1], self.student(parts))
        if not self.make_folder(parts[:-1]):
            self.make_folder(parts[:-1][:self.top + 1])

    def entries(self):
        """Folders and files by their names, sorted; what is hidden is passed over."""
        entries = []
        for info in self.archive.infolist():
            try:
                parts = parts_of(info.filename)
            except Refused as reason:
                self.report.leave_out("", str(reason))
                continue
            if parts and not is_hidden(parts):
                entries.append((tuple(parts), info))
            elif parts and info.filename.lower().endswith(".cu") and not is_of_tool(parts):
                self.hidden.append(tuple(parts))
        return sorted(entries, key=lambda entry: (entry[0], entry[1].header_offset))

    def take_hidden(self):
        """Hidden files are named, and a student who has nothing else is not lost."""
        for parts in self.hidden:
            student = self.student(parts)
            self.report.ignore(self.place(parts), student)
            if self.of_class and self.report.ignored_counts[student] == 1 and not is_hidden(parts[:self.top + 1]):
                self.make_folder(parts[:-1][:self.top + 1])

    def wanted(self, name):
        return any(name.lower().endswith(end) for end in self.limits.largest)

    def make_folder(self, parts):
        """Whether there is such a folder now; none is made where a file is in its way, or too deep."""
        path = os.path.join(self.folder, *parts)
        if len(parts) > self.limits.depth:
            return False
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG):
                return False
            raise
        return True

    def unpack(self, parts, info):
        name = "/".join(parts)
        if info.is_dir():
            self.make_folder(parts)
            return
        if len(parts) - 1 > self.limits.depth:
            raise Refused(f"{shown(name)} lies more than {self.limits.depth} folders deep; move it up.")
        if not self.make_folder(parts[:-1]):
            raise Refused(f"{shown(name)} has a name that cannot be used; give it another one.")
        if self.wanted(name):
            self.write(name, info, self.student(parts))
        else:
            self.report.ignore(self.place(parts), self.student(parts))

    def write(self, name, info, student):
        path = os.path.join(self.folder, *name.split("/"))
        try:
            target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG):
                raise Refused(f"{shown(name)} has a name that cannot be used; give it another one.") from error
            raise
        complete = False
        try:
            with os.fdopen(target, "wb") as file:
                self.copy(name, info, file, student)
                file.flush()
                os.utime(file.fileno(), (modified(info), modified(info)))
            complete = True
        finally:
            if not complete:
                os.unlink(path)

    def copy(self, name, info, file, student):
        """Counts what really comes out: what the zip says about sizes is not to be trusted."""
        limit = next(size for end, size in self.limits.largest.items() if name.lower().endswith(end))
        most, share = self.limits.whole.total, self.limits.share.total
        size = 0
        try:
            with self.archive.open(info) as source:
                while chunk := source.read(CHUNK):
                    size += len(chunk)
                    self.whole.total += len(chunk)
                    self.shares[student].total += len(chunk)
                    if self.whole.total > most:
                        raise Stopped(f"The zip unpacks to more than {size_in_words(most)}; what comes after "
                                      f"{shown(name)} was not unpacked. Hand in only your .cu files.")
                    if self.shares[student].total > share:
                        raise Spent(f"{shown(name)} is past the {size_in_words(share)} that a student's files may "
                                    "unpack to in the zip of a class; hand in only your .cu files.")
                    if size > limit:
                        raise Refused(f"{shown(name)} is larger than {size_in_words(limit)}; hand in the source alone.")
                    file.write(chunk)
        except (*DAMAGED, OSError) as error:
            require_damage(error)
            raise Refused(f"{shown(name)} is damaged in the zip; pack it again.") from error


def unpack(path, folder, limits):
    report = Report(limits.listed)
    try:
        with zipfile.ZipFile(path) as archive:
            Unpacker(archive, folder, limits, report).run()
    except (*DAMAGED, OSError) as error:
        require_damage(error)
        report.problem = "It is not a zip, or it is damaged."
    except MemoryError:
        report.problem = "It is too large to be unpacked."
    return report


def limit_resources(limits):
    """So that a zip made for it can exhaust neither memory nor time nor the disk."""
    for kind, value in ((resource.RLIMIT_AS, limits.memory), (resource.RLIMIT_CPU, limits.seconds),
                        (resource.RLIMIT_FSIZE, max(limits.largest.values())), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, hard))


def main():
    parser = argparse.ArgumentParser(description="Unpacks a zip that nobody trusts.")
    parser.add_argument("--class", dest="whole_class", action="store_true", help="the zip holds many students")
    parser.add_argument("zip")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    limits = CLASS if arguments.whole_class else STUDENT
    try:
        limit_resources(limits)
        os.makedirs(arguments.folder, mode=0o700, exist_ok=True)
        if os.listdir(arguments.folder):
            parser.error(f"{arguments.folder} is not empty")
        report = unpack(arguments.zip, arguments.folder, limits)
    except OSError as error:
        print(f"{error.filename or arguments.folder}: {error.strerror}", file=sys.stderr)
        return 3
    report.print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
