// hostile: Lets the compiler compute for hours, in parts that are each below its limits.
// lesson: 01
// verdict: not_compiled
// says: ompil
// trick: compile
// naive: no
// slow: the compiler runs into its time limit

template <int kPart>
constexpr int work() {
  int sum = kPart;
  for (int i = 0; i < 1000; ++i)
    for (int j = 0; j < 1000; ++j) sum = (sum * 31 + j) % 1000003;
  return sum;
}
template <int kParts>
constexpr int all = work<kParts>() + all<kParts - 1>;
template <>
constexpr int all<0> = 0;
int hours = all<800>;
