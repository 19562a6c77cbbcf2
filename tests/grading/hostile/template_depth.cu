// hostile: Lets a template instantiate itself without end.
// lesson: 01
// verdict: not_compiled
// says: depth
// trick: compile

template <int kDepth>
struct Chain {
  static constexpr int value = Chain<kDepth + 1>::value;
};
int endless = Chain<0>::value;
