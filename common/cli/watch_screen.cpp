#include "cli/watch_screen.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <system_error>
#include <vector>

#include "cli/raw_terminal.hpp"
#include "grading/base/descriptor.hpp"

namespace course::cli {
namespace {

using grading::Descriptor;

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd waiting{STDOUT_FILENO, POLLOUT, 0};
      poll(&waiting, 1, -1);
      continue;
    }
    if (count < 0)
      throw OutputGone("cannot write to standard output: " +
                       std::error_code(errno, std::generic_category()).message() + ".");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::size_t terminal_rows() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

/// Text that is drawn many times a second must fit, or each time its top would go to the scrollback.
std::string cropped(const std::string& text, std::size_t rows) {
  constexpr std::size_t kEnd = 8;  // what was run, and the keys
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const std::size_t end = std::min(kEnd, rows - 1);
  if (lines.size() > rows)
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(rows - end),
                lines.end() - static_cast<std::ptrdiff_t>(end));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// Standard output or standard error, elsewhere for as long as this object lives.
class Redirected {
 public:
  Redirected(int descriptor, int target) : descriptor_(descriptor), kept_(dup(descriptor)) {
    dup2(target, descriptor);
  }
  ~Redirected() { dup2(kept_.get(), descriptor_); }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int descriptor_;
  Descriptor kept_;
};

std::string content_of(int file) {
  std::string content;
  std::array<char, 4096> buffer;
  lseek(file, 0, SEEK_SET);
  for (ssize_t count; (count = read(file, buffer.data(), buffer.size())) > 0;)
    content.append(buffer.data(), static_cast<std::size_t>(count));
  return content;
}

}  // namespace

WatchScreen::WatchScreen() {
  const char* const kind = std::getenv("TERM");
  const bool dumb = kind != nullptr && std::string_view(kind) == "dumb";
  terminal_ = isatty(STDOUT_FILENO) != 0 && !dumb;
}

void WatchScreen::draw(const WatchView& view) {
  if (!terminal_ || !in_foreground(STDOUT_FILENO)) return;
  const std::size_t rows = terminal_rows();
  std::string text = render_screen(Terminal(), view);
  if (view.stage == WatchView::Stage::checking) text = cropped(text, rows);
  std::string out;
  if (push_out_) {
    const std::size_t used = lines_ == 0 ? rows : std::min(rows, lines_);
    out = fmt::format("\033[{};1H{}", rows, std::string(used, '\n'));
  }
  // All at once, and cleared before: a code behind a line that fills the screen would hit its last column.
  write_out(out + "\033[H\033[J" + text);
  push_out_ = false;
  drawn_ = true;
  lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

void WatchScreen::write_block(const WatchView& view) {
  if (terminal_) return;
  write_out((block_written_ ? "\n" : "") + render_result(Terminal(), view));
  block_written_ = true;
}

void WatchScreen::write_line(const std::string& sentence) {
  if (!terminal_) write_out(wrap(sentence, 0, Terminal().width()));
}

void WatchScreen::leave() {
  if (drawn_ && write(STDOUT_FILENO, "\n", 1) < 0) errno = 0;  // a terminal that has gone needs no line
  drawn_ = false;
  push_out_ = true;
  lines_ = 0;
}

std::string printed_by(const std::function<void()>& command) {
  const Descriptor file(memfd_create("printed", MFD_CLOEXEC));
  if (!file) return "";
  std::string problem;
  std::fflush(stdout);
  {
    const Redirected out(STDOUT_FILENO, file.get()), errors(STDERR_FILENO, file.get());
    try {
      command();
    } catch (const std::exception& error) {
      problem = error.what();
    }
    std::fflush(stdout);
  }
  return content_of(file.get()) + wrap(problem, 0, Terminal().width());
}

}  // namespace course::cli
