#include "cli/raw_terminal.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace course::cli {
namespace {

bool has_input(int descriptor) {
  pollfd waiting{descriptor, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

/// Behind the escape character at `at`: CSI with its parameters up to the letter, SS3 with one letter, or one
/// more character, as Alt sends it.
std::size_t end_of_escape(std::string_view bytes, std::size_t at) {
  if (++at == bytes.size()) return at;
  if (bytes[at] == 'O') return std::min(at + 2, bytes.size());
  if (bytes[at] != '[') return at + 1;
  for (++at; at < bytes.size(); ++at)
    if (bytes[at] >= '@' && bytes[at] <= '~') return at + 1;
  return at;
}

}  // namespace

bool in_foreground(int terminal) {
  const pid_t group = tcgetpgrp(terminal);
  return group < 0 || group == getpgrp();
}

RawTerminal::RawTerminal(int descriptor) : descriptor_(descriptor) { take(); }

void RawTerminal::take() {
  if (isatty(descriptor_) == 0 || !in_foreground(descriptor_)) return;
  termios found{};
  if (tcgetattr(descriptor_, &found) != 0) return;
  if (found_) found = *found_;
  termios wanted = found;
  wanted.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  wanted.c_cc[VMIN] = 1;
  wanted.c_cc[VTIME] = 0;
  if (tcsetattr(descriptor_, TCSANOW, &wanted) == 0) found_ = found;
}

void RawTerminal::give_back() {
  if (found_ && in_foreground(descriptor_)) tcsetattr(descriptor_, TCSANOW, &*found_);
  found_.reset();
}

std::string RawTerminal::read_keys() {
  if (!taken() || !has_input(descriptor_)) return "";
  std::array<char, 256> bytes;
  const ssize_t count = read(descriptor_, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return "";
  if (count <= 0) {
    found_.reset();
    return "";
  }
  return plain_keys({bytes.data(), static_cast<std::size_t>(count)});
}

std::string plain_keys(std::string_view bytes) {
  std::string keys;
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes[at] == '\033') {
      at = end_of_escape(bytes, at);
      continue;
    }
    if (static_cast<unsigned char>(bytes[at]) < 0x80) keys += bytes[at];
    ++at;
  }
  return keys;
}

SignalInbox::SignalInbox(std::initializer_list<int> numbers) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : numbers) sigaddset(&wanted, number);
  descriptor_ = grading::Descriptor(signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!descriptor_) throw std::system_error(errno, std::generic_category(), "cannot wait for signals");
  sigprocmask(SIG_BLOCK, &wanted, &before_);
}

SignalInbox::~SignalInbox() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> SignalInbox::next() {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

void stop_here() {
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, &before);  // here it stops
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace course::cli
