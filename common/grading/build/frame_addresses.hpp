#pragma once
/// @file
/// Which registers hold addresses in the function's own frame, by a walk over g++'s assembly. An index may
/// have led such an address out of the frame: then what lies there is not the function's own.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace course::grading {

/// Knows what is so on every way that leads to a line. Where a register holds an address of the frame on one
/// way and another pointer on the next, the compiler does not know the variable either, and hooks the access
/// itself.
class FrameAddresses {
 public:
  /// Walks over the whole assembly until it knows what holds at each label.
  /// @throws TooMuchToRead.
  explicit FrameAddresses(std::string_view assembly);

  /// @brief Whether an operand in memory, such as "4(%rbx,%rax,4)", lies at a place of the frame to which
  /// something was added that the compiler does not know.
  bool is_moved(std::string_view operand) const { return place_of(operand) == Kept::moved; }

  /// @brief Goes on past a line of the assembly, beginning with its first.
  void pass(std::string_view code);

 private:
  enum class Kept { nothing, place, moved };  ///< a known place of the frame, or one that was moved
  /// What registers and places on the stack hold, by their names; nothing is not among it.
  using State = std::map<std::string, Kept, std::less<>>;

  Kept kept_in(std::string_view holder) const;
  Kept place_of(std::string_view operand) const;
  bool is_slot(std::string_view holder) const;
  void keep(std::string_view holder, Kept kept);
  void begin(bool reached);
  void forget_slots();
  void compute(std::string_view name, std::string_view operands);
  void call();
  void jump(const std::string& label);
  static bool meet(State& state, const State& other);

  State now_;
  std::map<std::string, State, std::less<>> at_labels_;
  std::size_t kept_ = 0;                          ///< at all of them
  std::set<std::string, std::less<>> in_tables_;  ///< labels that jumps by a table lead to
  std::set<std::string, std::less<>> catches_;    ///< labels that exceptions may lead to
  std::string by_table_;                          ///< in place of a label, for such jumps of the function
  bool reached_ = true;                           ///< from the line before
  bool changed_ = false;                          ///< less is known of a label than before
};

}  // namespace course::grading
