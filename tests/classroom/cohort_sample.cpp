// Writes sample cohort pages of a made-up class: cohort_sample SOURCE OUT
//   OUT/index.html     40 students with everything in it, and a folder of results for each
//   OUT/plain.html     a class without hidden cases, hostile names or faults of the machine
//   OUT/ungraded.html  the same class with nothing graded
//   OUT/empty.html     no students and no lessons

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "classroom/cohort_page.hpp"
#include "classroom/text.hpp"

namespace {

namespace fs = std::filesystem;
using namespace course::classroom;

const std::vector<std::string> kHostileNames = {
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "' autofocus onfocus='alert(3)",
    "javascript:alert(4)",
    "ليلى الحسن",
    "王小明",
    "שרה \xe2\x80\xae"
    "cba",
    "two\nlines",
    "..",
    "&lt;b&gt; %41 100%",
    "not \xff\xfe UTF-8",
};
const std::vector<std::string> kNames = {
    "Ada Lovelace",     "Alan Turing",       "Barbara Liskov",  "Björn Ångström", "Charles Babbage",
    "Donald Knuth",     "Edsger Dijkstra",   "Émilie Châtelet", "Frances Allen",  "Grace Hopper",
    "Hedy Lamarr",      "Jean Bartik",       "John Backus",     "Karen Jones",    "Ken Thompson",
    "Konrad Zuse",      "Margaret Hamilton", "Niklaus Wirth",   "Radia Perlman",  "Robin Milner",
    "Shafi Goldwasser", "Sophie Wilson",     "Tim Lee",         "Tony Hoare",     "Vint Cerf",
    "Wanda Orlikowski", "Yukihiro Sato",
};
const std::vector<std::string> kCases = {
    "takes one element",
    "takes 0, 1, 31, 32, 33 and 1000 rows",
    "keeps NaN in its own row",
    "takes rows of -inf, and logits of 10,000 and of -10,000",
    "reads each element once, in whole sectors, and writes each result once; strides may be larger than rows",
    "gives the same bits in every order of blocks and threads",
    "refuses an argument that is not allowed, and leaves all arrays as they were",
    "frees what it allocates",
};
const std::vector<std::vector<std::string>> kDiagnoses = {{"tail_missing"},
                                                          {"out_of_bounds"},
                                                          {"nan_ignored"},
                                                          {"sum_not_rescaled"},
                                                          {"uncoalesced_load", "bank_conflict"},
                                                          {"race"},
                                                          {},
                                                          {"leak", "<i>made up</i>"}};

class Maker {
 public:
  explicit Maker(std::vector<course::grading::Lesson> lessons, bool nasty)
      : lessons_(std::move(lessons)), nasty_(nasty) {}

  ClassMarks make() {
    ClassMarks marks;
    marks.title = nasty_ ? "<b>Kernels</b> & spring" : "GPU programming, spring";
    marks.lessons = lessons_;
    marks.isolation = "namespaces";
    marks.has_hidden = nasty_;
    std::vector<std::string> names = kNames;
    if (nasty_) {
      names.insert(names.begin(), kHostileNames.begin(), kHostileNames.end());
      names.push_back(std::string(190, 'x') + " the Great");
    }
    for (std::size_t i = 0; i < names.size(); ++i) marks.students.push_back(student(names[i], i));
    return marks;
  }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  StudentMarks student(const std::string& name, std::size_t index) {
    StudentMarks one;
    one.name = name;
    one.id = index % 3 == 0 ? std::to_string(4700 + index) : "";
    one.folder = safe_folder_name(name);
    diligence_ = 30 + static_cast<unsigned>(random_() % 70);
    for (const course::grading::Lesson& lesson : lessons_) {
      one.lessons.push_back(mark(lesson));
      if (nasty_ && chance(2)) spoil(one.lessons.back());
    }
    return one;
  }

  LessonMark mark(const course::grading::Lesson& lesson) {
    LessonMark one;
    one.lesson = lesson;
    one.max_points = lesson.points;
    if (chance((100 - diligence_) / 2 + static_cast<unsigned>(lesson.number))) return one;
    one.standing = Standing::graded;
    one.file = lesson.name + ".cu";
    one.late = chance(6);
    if (chance(4)) {
      one.standing = Standing::not_compiled;
      one.message = lesson.name + ".cu:21:5: error: expected ';' before 'const'\n   21 |     const int i\n";
      return one;
    }
    if (chance(2)) {
      one.standing = Standing::refused;
      one.message = "The file calls fork, which a kernel has no use for. Remove the call.";
      return one;
    }
    one.seconds = 0.2 + static_cast<double>(random_() % 400) / 100 + 0.7 * lesson.part;
    run_cases(one);
    one.points = one.late ? one.earned * 0.9 : one.earned;
    return one;
  }

  void run_cases(LessonMark& one) {
    const unsigned failing = chance(diligence_) ? 2 : 100 - diligence_;
    std::vector<CaseMark> hidden;
    for (std::size_t i = 0; i < kCases.size(); ++i) {
      CaseMark open;
      open.name = kCases[i];
      const double share = one.max_points / static_cast<double>(kCases.size());
      open.max_points = nasty_ ? share / 2 : share;
      decide(open, failing + 2 * static_cast<unsigned>(i), kDiagnoses[i]);
      CaseMark secret = open;
      secret.hidden = true;
      if (open.passed) decide(secret, 3, {});
      one.cases.push_back(open);
      if (nasty_) hidden.push_back(secret);
    }
    one.cases.insert(one.cases.end(), hidden.begin(), hidden.end());
    for (const CaseMark& each : one.cases) one.earned += each.points;
  }

  void decide(CaseMark& one, unsigned failing, const std::vector<std::string>& diagnoses) {
    one.passed = !chance(failing);
    one.points = one.passed ? one.max_points : 0;
    if (one.passed) return;
    one.message = "n = 257: c[256] was never written.";
    one.diagnoses = diagnoses;
  }

  void spoil(LessonMark& one) {
    if (one.standing == Standing::missing) return;
    one.standing = Standing::ungraded;
    one.message = chance(50) ? "The disk is full: <results> could not be written."
                             : "The worker could not be started: Resource temporarily unavailable.";
    one.cases.clear();
    one.points = one.earned = one.seconds = 0;
  }

  std::vector<course::grading::Lesson> lessons_;
  bool nasty_;
  unsigned diligence_ = 0;
  std::mt19937 random_{7};
};

void make_ungraded(ClassMarks& marks) {
  for (StudentMarks& student : marks.students) {
    for (LessonMark& mark : student.lessons) {
      const course::grading::Lesson lesson = mark.lesson;
      mark = {};
      mark.lesson = lesson;
      mark.max_points = lesson.points;
      mark.standing = Standing::ungraded;
      mark.message = "bwrap could not make a namespace: Operation not permitted.";
    }
  }
}

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error(file.string() + " cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error(file.string() + " cannot be written");
}

void write_samples(const fs::path& source, const fs::path& out) {
  const std::string css = read_text(source / "common/classroom/cohort.css");
  const std::string script = read_text(source / "common/classroom/cohort.js");
  const std::vector<course::grading::Lesson> lessons = course::grading::read_lessons(source);
  fs::create_directories(out);
  const auto write = [&](const char* name, const ClassMarks& marks) {
    write_text(out / name, cohort_page(marks, css, script));
    for (const StudentMarks& student : marks.students) {
      fs::create_directories(out / student.folder);
      write_text(out / student.folder / "feedback.md", "# A made-up student\n");
      write_text(out / student.folder / "results.json", "{}\n");
    }
  };
  ClassMarks plain = Maker(lessons, false).make();
  write("index.html", Maker(lessons, true).make());
  write("plain.html", plain);
  make_ungraded(plain);
  write("ungraded.html", plain);
  write("empty.html", {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: cohort_sample SOURCE OUT\n", stderr);
    return 2;
  }
  try {
    write_samples(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
