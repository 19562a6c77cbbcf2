// hostile: Lets a template instantiate itself in two new ways, at each of 400 levels.
// lesson: 01
// verdict: not_compiled
// says: ompil
// trick: compile
// naive: no
// slow: the compiler runs into its limits

template <int kDepth, unsigned long kPath>
struct Tree {
  static constexpr int value = Tree<kDepth - 1, 2 * kPath>::value + Tree<kDepth - 1, 2 * kPath + 1>::value;
};
template <unsigned long kPath>
struct Tree<0, kPath> {
  static constexpr int value = 1;
};
int leaves = Tree<40, 1>::value;
