// Writing that fails: the target stays as it was, and nothing else is left behind.

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "npy_files.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace course;
using namespace course::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Root may write anywhere, so a test of permissions has to be somebody else for a while.
class UnprivilegedUser {
 public:
  UnprivilegedUser() : changed_(::geteuid() == 0 && ::seteuid(65534) == 0) {}
  UnprivilegedUser(const UnprivilegedUser&) = delete;
  UnprivilegedUser& operator=(const UnprivilegedUser&) = delete;
  ~UnprivilegedUser() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }
  bool ok() const { return ::geteuid() != 0; }

 private:
  bool changed_;
};

/// Files cannot grow beyond a size: what a full disk looks like to a program, without filling one.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);  // or the signal would end the test
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int) = SIG_DFL;
};

}  // namespace

TEST_CASE("writing replaces a file and leaves nothing beside it") {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Tensor<float>({1000}, 1.0f));
  write_npy(folder / "x.npy", Tensor<float>({2}, 2.0f));
  CHECK(read_npy<float>(folder / "x.npy")(1) == 2.0f);
  CHECK(folder.names() == std::set<std::string>{"x.npy"});
}

TEST_CASE("a written file has the permissions that the user's umask asks for") {
  const TemporaryFolder folder;
  const mode_t old = ::umask(027);
  write_npy(folder / "x.npy", Tensor<float>({2}));
  ::umask(old);
  struct stat status {};
  REQUIRE(::stat((folder / "x.npy").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a name without a folder means the current folder") {
  const TemporaryFolder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_npy("x.npy", Tensor<float>({2}, 3.0f));
  const float value = read_npy<float>("x.npy")(1);
  std::filesystem::current_path(here);
  CHECK(value == 3.0f);
  CHECK(folder.names() == std::set<std::string>{"x.npy"});
}

TEST_CASE("a file name of the greatest length can be written") {
  const TemporaryFolder folder;
  std::string name(251, 'x');
  name += ".npy";
  write_npy(folder / name, Tensor<float>({2}));
  CHECK(folder.names() == std::set<std::string>{name});
}

TEST_CASE("what another process left behind does not disturb writing") {
  const TemporaryFolder folder;
  const std::string stale = ".npy-" + std::to_string(::getpid()) + "-0.tmp";
  write_bytes(folder / stale, "stale");
  write_npy(folder / "x.npy", Tensor<float>({2}));
  CHECK(folder.names() == std::set<std::string>{stale, "x.npy"});
  CHECK(read_bytes(folder / stale) == "stale");
}

TEST_CASE("a folder that does not exist is named as the reason") {
  const TemporaryFolder folder;
  const auto file = folder / "no" / "x.npy";
  CHECK(npy_error([&] { write_npy(file, Tensor<float>({2})); }) ==
        "Cannot write \"" + file.string() + "\": its folder does not exist.");
  CHECK(folder.names().empty());
}

TEST_CASE("a folder in place of the file is refused") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "x.npy");
  CHECK_THAT(npy_error([&] { write_npy(folder / "x.npy", Tensor<float>({2})); }),
             ContainsSubstring("it is a folder."));
  CHECK(folder.names() == std::set<std::string>{"x.npy"});
}

TEST_CASE("a device is never replaced by a file") {
  CHECK_THAT(npy_error([] { write_npy("/dev/null", Tensor<float>({2})); }),
             ContainsSubstring("it exists and is not a regular file."));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("more axes than the format can hold are refused") {
  const TemporaryFolder folder;
  CHECK_THAT(npy_error([&] { write_npy(folder / "x.npy", Tensor<float>(Shape(30000, 1))); }),
             ContainsSubstring("an .npy file cannot hold 30000 axes."));
  CHECK(folder.names().empty());
}

TEST_CASE("a read-only folder is named as the reason and stays as it is") {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Tensor<float>({2}, 1.0f));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  std::string message;
  bool tested = false;
  {
    const UnprivilegedUser user;
    tested = user.ok();
    if (tested) message = npy_error([&] { write_npy(folder / "x.npy", Tensor<float>({2}, 2.0f)); });
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  if (!tested) {
    WARN("Skipped: root cannot become another user here, and root may write anywhere.");
    return;
  }
  CHECK_THAT(message, ContainsSubstring("Permission denied."));
  CHECK(read_npy<float>(folder / "x.npy")(0) == 1.0f);
  CHECK(folder.names() == std::set<std::string>{"x.npy"});
}

TEST_CASE("a write that fails half-way keeps the old file and leaves no other") {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Tensor<float>({2}, 1.0f));
  const rlim_t limit = GENERATE(rlim_t{50}, rlim_t{100000});  // inside the header, inside the data
  std::string old_message, new_message;
  {
    const FileSizeLimit guard(limit);
    old_message = npy_error([&] { write_npy(folder / "x.npy", Tensor<float>({100000}, 2.0f)); });
    new_message = npy_error([&] { write_npy(folder / "y.npy", Tensor<float>({100000}, 2.0f)); });
  }
  CHECK_THAT(old_message, ContainsSubstring("File too large."));
  CHECK_THAT(new_message, ContainsSubstring("File too large."));
  CHECK(read_npy<float>(folder / "x.npy")(0) == 1.0f);
  CHECK(folder.names() == std::set<std::string>{"x.npy"});
}

TEST_CASE("a full disk is named as the reason and holds no part of the file afterwards") {
  constexpr int kPassed = 0, kFailed = 1, kNoMount = 77;
  const TemporaryFolder folder;
  const auto file = folder / "x.npy";
  const auto passes_on_full_disk = [&] {
    write_npy(file, Tensor<float>({2}, 1.0f));
    const std::string message = npy_error([&] { write_npy(file, Tensor<float>({100000}, 2.0f)); });
    return message == "Cannot write \"" + file.string() + "\": No space left on device." &&
           read_npy<float>(file)(0) == 1.0f && folder.names() == std::set<std::string>{"x.npy"};
  };

  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // A disk of 64 KiB in a mount namespace of its own, which ends with this process.
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
      ::_exit(kNoMount);
    }
    try {
      ::_exit(passes_on_full_disk() ? kPassed : kFailed);
    } catch (...) {  // must not reach the test runner a second time
      ::_exit(kFailed);
    }
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoMount) {
    WARN("Skipped: only root may mount a small disk to fill.");
    return;
  }
  CHECK(WEXITSTATUS(status) == kPassed);
}
