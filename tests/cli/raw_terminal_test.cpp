#include "cli/raw_terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "support/catch.hpp"

using namespace course::cli;
using course::grading::Descriptor;

namespace {

/// A pseudo-terminal: what a terminal emulator holds, and what a program sees.
struct PseudoTerminal {
  Descriptor screen{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  Descriptor program;

  PseudoTerminal() {
    if (!screen || grantpt(screen.get()) != 0 || unlockpt(screen.get()) != 0) return;
    program = Descriptor(open(ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  void type(std::string_view keys) const {
    REQUIRE(write(screen.get(), keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    pollfd waiting{program.get(), POLLIN, 0};
    REQUIRE(poll(&waiting, 1, 5000) == 1);
  }
  termios settings() const {
    termios found{};
    REQUIRE(tcgetattr(program.get(), &found) == 0);
    return found;
  }
};

bool same(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag &&
         a.c_lflag == b.c_lflag && std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}

/// Exit status of what runs in a process of its own; -1 if it was ended otherwise.
template <class Body>
int status_of(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("keys come without Enter and without an echo, and the terminal is given back", "[cli][watch]") {
  const PseudoTerminal terminal;
  REQUIRE(terminal.program);
  const termios before = terminal.settings();
  {
    RawTerminal keyboard(terminal.program.get());
    REQUIRE(keyboard.taken());
    CHECK(keyboard.read_keys().empty());
    terminal.type("hq");
    CHECK(keyboard.read_keys() == "hq");
    pollfd echo{terminal.screen.get(), POLLIN, 0};
    CHECK(poll(&echo, 1, 50) == 0);
    CHECK((terminal.settings().c_lflag & ISIG) != 0);  // Ctrl-C is a signal still
    CHECK_FALSE(same(terminal.settings(), before));
  }
  CHECK(same(terminal.settings(), before));
}

TEST_CASE("an exception gives the terminal back", "[cli][watch]") {
  const PseudoTerminal terminal;
  REQUIRE(terminal.program);
  const termios before = terminal.settings();
  const auto fails = [&] {
    const RawTerminal keyboard(terminal.program.get());
    if (keyboard.taken()) throw std::runtime_error("taken");
  };
  CHECK_THROWS_WITH(fails(), "taken");
  CHECK(same(terminal.settings(), before));
}

TEST_CASE("a terminal that is taken again is given back as it was the last time", "[cli][watch]") {
  const PseudoTerminal terminal;
  REQUIRE(terminal.program);
  termios settings = terminal.settings();
  RawTerminal keyboard(terminal.program.get());
  keyboard.give_back();
  CHECK(same(terminal.settings(), settings));
  settings.c_lflag ^= ECHOE;
  REQUIRE(tcsetattr(terminal.program.get(), TCSANOW, &settings) == 0);
  keyboard.take();
  keyboard.take();  // as after a stop that nobody announced
  CHECK((terminal.settings().c_lflag & ICANON) == 0);
  keyboard.give_back();
  CHECK(same(terminal.settings(), settings));
}

TEST_CASE("what is no terminal is not taken", "[cli][watch]") {
  const Descriptor file(open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK_FALSE(RawTerminal(file.get()).taken());
  CHECK_FALSE(RawTerminal(-1).taken());
}

TEST_CASE("a terminal that was closed has no keys any more", "[cli][watch]") {
  PseudoTerminal terminal;
  REQUIRE(terminal.program);
  RawTerminal keyboard(terminal.program.get());
  terminal.screen.close();
  CHECK(keyboard.read_keys().empty());
  CHECK_FALSE(keyboard.taken());
}

TEST_CASE("a terminal whose foreground is another program's is left alone", "[cli][watch]") {
  const PseudoTerminal terminal;
  REQUIRE(terminal.program);
  const termios before = terminal.settings();
  const int taken = status_of([&] {
    setsid();
    if (ioctl(terminal.program.get(), TIOCSCTTY, 0) != 0) return 2;
    return status_of([&] {
      setpgid(0, 0);
      return RawTerminal(terminal.program.get()).taken() ? 1 : 0;
    });
  });
  CHECK(taken == 0);
  CHECK(same(terminal.settings(), before));
}

TEST_CASE("of what is typed, only plain keys count", "[cli][watch]") {
  CHECK(plain_keys("hnq?") == "hnq?");
  CHECK(plain_keys("\x0c\x04") == "\x0c\x04");
  CHECK(plain_keys("\033[A\033[1;5Ch\033[200~") == "h");  // arrows, Ctrl-right, a paste
  CHECK(plain_keys("\033OPl\033Oc") == "l");              // F1, Ctrl-right of another terminal
  CHECK(plain_keys("\033nq") == "q");                     // Alt-n
  CHECK(plain_keys("\xc3\xa4q") == "q");                  // a letter that is not ASCII
  CHECK(plain_keys("\033").empty());
  CHECK(plain_keys("\033[1;").empty());
  CHECK(plain_keys("\033O").empty());
}

TEST_CASE("signals wait to be read, and go where they went before afterwards", "[cli][watch]") {
  sigset_t blocked;
  {
    SignalInbox inbox{SIGUSR1, SIGUSR2};
    CHECK_FALSE(inbox.next().has_value());
    raise(SIGUSR2);
    CHECK(inbox.next() == SIGUSR2);
    CHECK_FALSE(inbox.next().has_value());
    sigprocmask(SIG_BLOCK, nullptr, &blocked);
    CHECK(sigismember(&blocked, SIGUSR1) == 1);
  }
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  CHECK(sigismember(&blocked, SIGUSR1) == 0);
}

TEST_CASE("a program stops where it says so, and goes on", "[cli][watch]") {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);  // a group whose parent lives: others are not stopped
    const SignalInbox inbox{SIGTSTP, SIGCONT};
    stop_here();
    _exit(7);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, WUNTRACED) == child);
  CHECK(WIFSTOPPED(status));
  kill(child, SIGCONT);
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}
