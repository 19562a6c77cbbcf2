// `__CUDA_ARCH__`: nvcc compiles a file once for the host, where it is not defined, and once for the device,
// where it is. Here a file is compiled once, so the macro comes and goes within it.

#include "simt/rewriter/architecture.hpp"

#include <algorithm>

#include "simt/rewriter/declarations.hpp"

namespace simt::rewriter {
namespace {

constexpr std::string_view kMacro = "__CUDA_ARCH__";

bool opens(DirectiveKind kind) {
  return kind == DirectiveKind::if_ || kind == DirectiveKind::ifdef || kind == DirectiveKind::ifndef;
}
bool goes_on(DirectiveKind kind) {
  return kind == DirectiveKind::elif || kind == DirectiveKind::elifdef || kind == DirectiveKind::elifndef ||
         kind == DirectiveKind::else_;
}

/// One `#if` with its groups up to its `#endif`.
struct Guard {
  std::size_t first, last;   // of File::lexed.directives
  bool asks = false;         // about the architecture
  bool alternative = false;  // has an #else or an #elif
};

class DeviceCode {
 public:
  explicit DeviceCode(const Sequence& code) : code_(code), lexed_(code.file().lexed) {
    if (lexed_.source.find(kMacro) == std::string_view::npos) return;
    find_guards();
    for (std::uint32_t i = 0; i < code.size(); ++i) add_function(i);
    for (const Guard& guard : guards_) add_declarations(guard);
    std::sort(stretches_.begin(), stretches_.end(),
              [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  }
  std::vector<Stretch> take() { return std::move(stretches_); }

 private:
  void find_guards() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < lexed_.directives.size(); ++i) {
      const Directive& directive = lexed_.directives[i];
      if (opens(directive.kind)) {
        open.push_back(guards_.size());
        guards_.push_back({i, i});
      } else if (open.empty()) {
        continue;
      }
      if (open.empty()) continue;
      Guard& guard = guards_[open.back()];
      guard.last = i;
      guard.alternative |= goes_on(directive.kind);
      guard.asks |= (opens(directive.kind) || goes_on(directive.kind)) &&
                    text(directive.begin, directive.end).find(kMacro) != std::string_view::npos;
      if (directive.kind == DirectiveKind::endif) open.pop_back();
    }
  }

  std::string_view text(std::size_t begin, std::size_t end) const {
    return lexed_.source.substr(begin, end - begin);
  }
  std::size_t begin_of(const Guard& c) const { return lexed_.directives[c.first].begin; }
  std::size_t end_of(const Guard& c) const { return lexed_.directives[c.last].end; }
  bool is_known(std::size_t position) const {
    return std::any_of(stretches_.begin(), stretches_.end(),
                       [position](const Stretch& s) { return s.begin <= position && position < s.end; });
  }
  bool has_word(const Guard& guard, std::string_view word) const {
    for (std::uint32_t i = 0; i < code_.size(); ++i)
      if (code_[i].begin > begin_of(guard) && code_[i].end < end_of(guard) && code_.is(i, word)) return true;
    return false;
  }
  bool has_asm(const Guard& guard) const {
    for (std::uint32_t i = 0; i < code_.size(); ++i)
      if (code_[i].begin > begin_of(guard) && code_[i].end < end_of(guard) &&
          code_[i].word == Word::inline_asm)
        return true;
    return false;
  }

  /// The body of a function for the device alone, if it asks for the architecture. Where inline PTX has
  /// plain C++ as its alternative, that is what runs.
  void add_function(std::uint32_t index) {
    const std::uint32_t body = device_body(code_, index);
    if (body == kNone || is_known(code_[body].begin)) return;
    const std::size_t begin = code_[body].end, end = code_[code_.match(body)].begin;
    if (text(begin, end).find(kMacro) == std::string_view::npos) return;
    for (const Guard& guard : guards_)
      if (guard.asks && guard.alternative && begin_of(guard) >= begin && end_of(guard) <= end &&
          has_asm(guard))
        return;
    stretches_.push_back({begin, end, false});
  }

  /// A conditional outside of functions that holds functions for the device alone.
  void add_declarations(const Guard& guard) {
    if (!guard.asks || is_known(begin_of(guard))) return;
    if (lexed_.directives[guard.last].kind != DirectiveKind::endif) return;
    if (!has_word(guard, "__device__") || has_word(guard, "__host__") || has_asm(guard)) return;
    std::erase_if(stretches_, [&](const Stretch& known) {
      return known.begin >= begin_of(guard) && known.end <= end_of(guard);
    });
    stretches_.push_back({begin_of(guard), end_of(guard), true});
  }

  const Sequence& code_;
  const Lexed& lexed_;
  std::vector<Guard> guards_;
  std::vector<Stretch> stretches_;
};

std::string line_directive(std::string_view source, std::size_t position, int beyond) {
  const auto line =
      1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(position), '\n');
  return "#line " + std::to_string(line + beyond);
}

}  // namespace

std::vector<Stretch> find_device_code(const Lexed& lexed, std::string_view file_name) {
  if (lexed.source.find(kMacro) == std::string_view::npos) return {};
  File file{file_name, lexed, {}, {}, {}, {}};
  const Sequence code(file);
  return DeviceCode(code).take();
}

void define_architecture(File& file) {
  const std::string_view source = file.lexed.source;
  const std::string define = "#define " + std::string(kMacro) + " " + std::to_string(file.lexed.architecture);
  const std::string undefine = "#undef " + std::string(kMacro);
  for (const Stretch& stretch : file.lexed.device_code) {
    const auto at = [&](std::size_t position, const std::string& text) {
      file.edits.push_back(
          {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position), text});
    };
    const std::string back = line_directive(source, stretch.begin, 0);
    if (stretch.whole_lines) {
      at(stretch.begin, define + "\n" + back + "\n");
      at(stretch.end, "\n" + undefine + "\n" + line_directive(source, stretch.end, 1));
    } else {
      at(stretch.begin, "\n" + define + "\n" + back + "\n");
      at(stretch.end, "\n" + undefine + "\n" + line_directive(source, stretch.end, 0) + "\n");
    }
  }
}

}  // namespace simt::rewriter
