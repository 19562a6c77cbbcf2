// Every way in which a student's code can end badly costs one call, has its own sentence, and nothing else.
#include <algorithm>
#include <string>

#include "support/catch.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The misdeed fails as told, and the next call works.
void check_dies(Misdeed misdeed, Status status, const std::string& words) {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, misdeed, 3);
  INFO(outcome.message);
  CHECK(to_string(outcome.status) == to_string(status));
  CHECK_THAT(why_not_clean(outcome), ContainsSubstring(words));
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

}  // namespace

TEST_CASE("a null pointer on the host costs one case") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kDereferenceNull);
  CHECK((outcome.status == Status::died || outcome.status == Status::fault));
  CHECK_FALSE(outcome.message.empty());
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("endless recursion on the host costs one case") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kRecurseForever);
  CHECK((outcome.status == Status::died || outcome.status == Status::fault));
  CHECK_FALSE(outcome.message.empty());
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("a division by zero on the host costs one case") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kDivideByZero);
  CHECK((outcome.status == Status::died || outcome.status == Status::fault));
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("abort() costs one case") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kAbort);
  CHECK((outcome.status == Status::died || outcome.status == Status::fault));
  CHECK_FALSE(outcome.message.empty());
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("exit(0) costs one case") {
  check_dies(kExitZero, Status::died, "ended the whole program in misbehave, with exit status 0");
}

TEST_CASE("exit(3) costs one case") { check_dies(kExitThree, Status::died, "with exit status 3"); }

TEST_CASE("_exit(0) costs one case") { check_dies(kQuickExit, Status::died, "with exit status 0"); }

TEST_CASE("a killed process costs one case") {
  check_dies(kKillItself, Status::died, "was killed in misbehave");
}

TEST_CASE("a thrown int costs one case") { check_dies(kThrowInt, Status::threw, "threw int in misbehave"); }

TEST_CASE("a thrown exception is told with its type and message") {
  check_dies(kThrowInvalidArgument, Status::threw,
             "threw std::invalid_argument in misbehave, where it should have returned: n must not be "
             "negative, and is 10");
}

TEST_CASE("the standard types that an exception derives from are known") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kThrowDerived);
  CHECK_THAT(outcome.exception_type, ContainsSubstring("DerivedError"));
  CHECK(std::find(outcome.exception_bases.begin(), outcome.exception_bases.end(), "std::invalid_argument") !=
        outcome.exception_bases.end());
}

TEST_CASE("an exception whose message is no text, or endless, costs one case") {
  check_dies(kThrowForeignBytes, Status::threw, "\"quoted\"");
  check_dies(kThrowEndless, Status::threw, "eeee");
}

TEST_CASE("running out of host memory costs one case") {
  check_dies(kOutOfMemory, Status::threw, "more host memory");
}

TEST_CASE("closing every descriptor costs one case") {
  check_dies(kCloseEverything, Status::died, "lost its connection to your code");
  check_dies(kCloseChannelAndStay, Status::died, "lost its connection to your code");
}

TEST_CASE("writing to every descriptor costs one case") {
  check_dies(kWriteGarbage, Status::died, "lost its connection to your code");
}

TEST_CASE("a forged reply does not make results") {
  Session session(library("misbehave"));
  Tensor<float> result({10}, 1.0f);
  const Outcome outcome = call_in(session, {}, ENTRY(course::misbehave),
                                  static_cast<std::int32_t>(kForgeReply), out(result, "c"), result.numel());
  CHECK_FALSE(side_effects(outcome).empty());  // the guards of an output that nobody copied back are broken
  CHECK(result(0) != 1.0f);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("a reply that comes twice does not disturb the next call") {
  Session session(library("misbehave"));
  misbehave(session, kForgeHugeReply);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("starting another process costs one case") {
  check_dies(kFork, Status::died, "started another process in misbehave");
  check_dies(kForkAndStay, Status::died, "started another process in misbehave");
  check_dies(kForkOnly, Status::died, "started another process in misbehave");
}

TEST_CASE("cutting off every memory that can be found disturbs only the code itself") {
  Session session(library("misbehave"));
  misbehave(session, kResizeShared);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("a thread that outlives the call does not stop the grader") {
  Session session(library("misbehave"));
  CHECK(why_not_clean(misbehave(session, kThreadOutlives)).empty());
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("what the code printed is kept, also after a crash") {
  Session session(library("misbehave"));
  const Outcome fine = misbehave(session, kPrint);
  CHECK(why_not_clean(fine).empty());
  CHECK(fine.printed == "a = 7\nb = 8");
  CHECK(misbehave(session, kNothing).printed.empty());
  CHECK(misbehave(session, kPrintThenCrash).printed == "before the crash");
}

TEST_CASE("a crash in a static constructor costs one case") {
  Session session(library("early_crash"));
  const Outcome outcome = misbehave(session, kNothing);
  CHECK((outcome.status == Status::died || outcome.status == Status::fault));
  CHECK_FALSE(outcome.message.empty());
}

TEST_CASE("_exit(0) in a static constructor costs one case") {
  Session session(library("early_exit"));
  const Outcome outcome = misbehave(session, kNothing);
  CHECK(outcome.status == Status::died);
  CHECK_THAT(outcome.message, ContainsSubstring("while your file was being loaded"));
}
