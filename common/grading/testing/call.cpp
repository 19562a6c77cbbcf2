#include "grading/testing/call.hpp"

#include "grading/base/machine_error.hpp"
#include "grading/testing/case.hpp"

namespace course::grading::detail {

Outcome invoke(Session& session, std::string_view entry, std::string_view signature,
               const std::vector<Argument>& arguments, const CallOptions& options) try {
  return session.invoke(entry, signature, arguments, options);
} catch (const MachineError&) {
  current_case().infrastructure = true;
  throw;
}

}  // namespace course::grading::detail
