#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "simt/report/text.hpp"

namespace simt::report {

TextStyle TextStyle::of_stream(int descriptor) {
  TextStyle style;
  if (isatty(descriptor) == 0) return style;
  constexpr std::size_t kShortestLine = 40, kLongestLine = 120;
  winsize size{};
  const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  style.width = known ? std::clamp<std::size_t>(size.ws_col, kShortestLine, kLongestLine) : 80;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  style.colours = !dumb && (no_color == nullptr || *no_color == '\0');
  return style;
}

}  // namespace simt::report
