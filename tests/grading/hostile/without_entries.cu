// hostile: Has a name of another lesson's entry only, and nothing of this one's.
// lesson: 01
// verdict: not_compiled
// says: does not define
// trick: compile

namespace course {
void safe_softmax() {}
}  // namespace course
