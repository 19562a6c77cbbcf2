// A confined worker, with the sandbox's launcher left out: what it gives up by itself, and what the grader
// makes of it.
#include "grading/confinement/confinement.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "grading/base/subprocess.hpp"
#include "grading/calls/fork_server.hpp"
#include "grading/calls/worker_process.hpp"
#include "support/catch.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

SessionConfig confined(const std::string& name) {
  SessionConfig config = library(name);
  config.confinement.emplace();
  return config;
}

/// The misdeed fails as told, and the next call works.
void check_ends(Misdeed misdeed, const std::string& words) {
  Session session(confined("misbehave"));
  const Outcome outcome = misbehave(session, misdeed, 3);
  INFO(outcome.message);
  CHECK_THAT(why_not_clean(outcome), ContainsSubstring(words));
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

}  // namespace

TEST_CASE("a confined worker gives the same results, and serves one call only") {
  Session session(confined("misbehave"));
  for (int call = 0; call < 2; ++call) {
    const Outcome outcome = misbehave(session, kNothing);
    INFO(outcome.message);
    CHECK(why_not_clean(outcome).empty());
    CHECK(session.worker_pid() == -1);
  }
}

TEST_CASE("a confined worker that may serve several calls stays") {
  SessionConfig config = confined("misbehave");
  config.confinement->one_call = false;
  Session session(config);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
  const int worker = session.worker_pid();
  CHECK(worker > 0);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
  CHECK(session.worker_pid() == worker);
}

TEST_CASE("nothing that confined code leaves in its process is there in the next call") {
  Session session(confined("misbehave"));
  for (int call = 0; call < 3; ++call) {
    const Outcome outcome = misbehave(session, kCountCalls);
    INFO(outcome.message);
    CHECK(why_not_clean(outcome).empty());
    CHECK_THAT(outcome.printed, ContainsSubstring("call 1"));
  }
}

TEST_CASE("confined code cannot change the process that later calls come from") {
  check_ends(kLimitServer, "Your code asked the system for prlimit64, which a kernel has no need of");
}

TEST_CASE("a fork server forks one worker after the other, and the last ends with it") {
  ForkServer server(COURSE_TEST_WORKER, Confinement{});
  WorkerProcess first(server);
  CHECK(kill(first.pid(), 0) == 0);
  CHECK(first.stop() == SIGKILL);
  CHECK(kill(first.pid(), 0) == -1);
  CHECK(server.works());
  WorkerProcess second(server);
  CHECK_FALSE(second.ended());
  server.end();
  CHECK_FALSE(server.works());
  CHECK(second.ended());
}

TEST_CASE("a call too large for check mode gives the same results between fenced pages") {
  Session session(confined("misbehave"));
  for (const std::int64_t n : {100'000, 100'001, 131'072}) {
    const Tensor<float> a({n}, 1.0f), b({n}, 2.0f);
    Tensor<float> c({n});
    const Outcome outcome = call_in(session, {}, ENTRY(course::add), in(a, "a"), in(b, "b"), out(c, "c"), n);
    CAPTURE(n);
    CHECK(why_not_clean(outcome).empty());
    CHECK(c(0) == 3.0f);
    CHECK(c(n - 1) == 3.0f);
  }
}

TEST_CASE("what is written past the end and does not reach the fenced pages is found as elsewhere") {
  Session session(confined("misbehave"));
  Tensor<float> result({100'001});  // 31 elements lie between its end and the next multiple of 256 bytes
  CHECK_THAT(why_not_clean(call_in(session, {}, ENTRY(course::misbehave), static_cast<std::int32_t>(kPastEnd),
                                   out(result, "c"), result.numel())),
             ContainsSubstring("wrote 24 elements past the end of c"));
}

TEST_CASE("confined code that starts a process is ended, and told what it asked for") {
  check_ends(kFork, "Your code asked the system for clone, which a kernel has no need of");
  check_ends(kSpawn, "Your code asked the system");
}

TEST_CASE("confined code that asks for what no kernel needs is ended, and told the call's name") {
  const std::pair<int, const char*> calls[] = {{SYS_fork, "fork"},
                                               {SYS_vfork, "vfork"},
                                               {SYS_execve, "execve"},
                                               {SYS_kill, "kill"},
                                               {SYS_tkill, "tkill"},
                                               {SYS_ptrace, "ptrace"},
                                               {SYS_socket, "socket"},
                                               {SYS_shmget, "shmget"},
                                               {SYS_bpf, "bpf"},
                                               {SYS_unshare, "unshare"},
                                               {SYS_setns, "setns"},
                                               {SYS_mount, "mount"},
                                               {SYS_chroot, "chroot"},
                                               {SYS_setuid, "setuid"},
                                               {SYS_keyctl, "keyctl"},
                                               {SYS_add_key, "add_key"},
                                               {SYS_unlink, "unlink"},
                                               {SYS_memfd_create, "memfd_create"},
                                               {SYS_openat2, "openat2"},
                                               {SYS_pidfd_open, "pidfd_open"},
                                               {SYS_pidfd_getfd, "pidfd_getfd"},
                                               {SYS_process_vm_readv, "process_vm_readv"},
                                               {SYS_process_vm_writev, "process_vm_writev"},
                                               {SYS_io_uring_setup, "io_uring_setup"},
                                               {SYS_userfaultfd, "userfaultfd"},
                                               {SYS_perf_event_open, "perf_event_open"},
                                               {SYS_personality, "personality"},
                                               // of the standard input, which only reads
                                               {SYS_write, "write"},
                                               {SYS_writev, "writev"},
                                               {SYS_pwrite64, "pwrite64"},
                                               {SYS_pwritev, "pwritev"},
                                               {SYS_sendfile, "sendfile"},
                                               {SYS_splice, "splice"},
                                               {SYS_dup2, "dup2"},
                                               {SYS_fcntl, "fcntl"}};
  for (const auto& [number, name] : calls) {
    Session session(confined("misbehave"));
    const Outcome outcome = misbehave(session, static_cast<Misdeed>(kSystemCall + number), 3);
    CAPTURE(name);
    CHECK_THAT(why_not_clean(outcome), ContainsSubstring(fmt::format("asked the system for {},", name)));
  }
}

TEST_CASE("confined code cannot map memory for code that it writes itself") {
  check_ends(kMapCode, "Your code asked the system for mmap, which a kernel has no need of");
}

TEST_CASE("confined code cannot call the system by an instruction of its own") {
  check_ends(kCallSystem, "by an instruction of its own");
}

TEST_CASE("confined code has no room for page tables without end") {
  check_ends(kManyAddresses, "no addresses left");
}

TEST_CASE("confined code cannot start a thread that outlives its call") {
  check_ends(kThreadOutlives, "");
  Session session(confined("misbehave"));
  const Outcome outcome = misbehave(session, kThreadOutlives, 3);
  CHECK(outcome.status != Status::returned);
}

TEST_CASE("confined code that aborts or kills itself is told so") {
  check_ends(kAbort, "Your code called abort()");
  check_ends(kKillItself, "Your code");
}

TEST_CASE("confined code that ends its process is told its exit status") {
  check_ends(kExitThree, "with exit status 3");
}

TEST_CASE("confined code can neither write to the grader's channel nor read from it") {
  check_ends(kWriteToChannel, "Your code asked the system for write, which a kernel has no need of");
  check_ends(kReadChannel, "Bad file descriptor");
}

TEST_CASE("confined code that forges a reply gains nothing") {
  Session session(confined("misbehave"));
  const Outcome outcome = misbehave(session, kForgeReply, 3);
  CHECK_FALSE(why_not_clean(outcome).empty());
}

TEST_CASE("a kernel that never comes back is called no more after some calls") {
  SessionConfig config = confined("misbehave");
  config.later_timeout_seconds = 0.5;
  Session session(config);
  for (int call = 0; call < 2; ++call) {
    const Outcome outcome = misbehave(session, kLoopForever, 0.5);
    INFO(outcome.message);
    CHECK(to_string(outcome.status) == to_string(Status::timeout));
    CHECK_THAT(outcome.message, ContainsSubstring("never came back"));
  }
  const Outcome outcome = misbehave(session, kNothing);
  CHECK(to_string(outcome.status) == to_string(Status::timeout));
  CHECK_THAT(outcome.message,
             ContainsSubstring("misbehave was not called, because 2 calls before this one never came back"));
}

TEST_CASE("a worker that cannot be confined is the machine's fault") {
  SessionConfig config = confined("misbehave");
  config.confinement->launcher = {"sh", "-c", "echo no room; exit 4", "sh"};
  Session session(config);
  CHECK_THROWS_AS(misbehave(session, kNothing), MachineError);
  CHECK_THROWS_WITH(misbehave(session, kNothing),
                    ContainsSubstring("The sandbox for a submission could not be started: no room"));
}

TEST_CASE("a worker behind a launcher is ended with it") {
  SessionConfig config = confined("misbehave");
  config.confinement->launcher = {"env", "-i", "LC_ALL=C"};
  Session session(config);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
  CHECK_THAT(misbehave(session, kLoopForever, 0.5).message, ContainsSubstring("never came back"));
  CHECK(session.worker_pid() == -1);
}

TEST_CASE("a confinement is the same after it has been written and read") {
  Confinement confinement;
  confinement.launcher = {"bwrap", "--", "two words"};
  confinement.memory_bytes = 12345;
  confinement.one_call = false;
  const ScratchFolder folder(std::filesystem::temp_directory_path());
  const std::filesystem::path file = folder.path() / "confinement.json";
  write_file_atomically(file, to_json(confinement));
  const Confinement again = read_confinement(file);
  CHECK(again.launcher == confinement.launcher);
  CHECK(again.memory_bytes == confinement.memory_bytes);
  CHECK(again.one_call == confinement.one_call);
  std::ofstream(file) << "{}";
  CHECK_THROWS_WITH(read_confinement(file), ContainsSubstring("does not describe a confinement"));
}
