#include "grading/calls/worker/exceptions.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "grading/base/demangle.hpp"

namespace course::grading {
namespace {

template <class... Standard>
std::vector<std::string> bases_of(const std::exception& exception) {
  std::vector<std::string> names = {"std::exception"};
  ((dynamic_cast<const Standard*>(&exception) ? names.push_back(demangle(typeid(Standard).name())) : void()),
   ...);
  return names;
}

}  // namespace

Outcome describe_exception(std::string_view where) {
  Outcome outcome;
  outcome.status = Status::threw;
  try {
    throw;
  } catch (const std::bad_alloc& exception) {
    outcome.exception_message = exception.what();
    outcome.exception_bases = bases_of<std::bad_alloc>(exception);
    outcome.exception_type = demangle(typeid(exception).name());
    outcome.message = fmt::format("Your code asked {} for more host memory than there is ({}).", where,
                                  outcome.exception_type);
    return outcome;
  } catch (const std::exception& exception) {
    outcome.exception_message = exception.what();
    outcome.exception_bases =
        bases_of<std::logic_error, std::invalid_argument, std::domain_error, std::length_error,
                 std::out_of_range, std::runtime_error, std::range_error, std::overflow_error,
                 std::underflow_error>(exception);
    outcome.exception_type = demangle(typeid(exception).name());
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    outcome.exception_type = type ? demangle(type->name()) : "something unknown";
  }
  outcome.message =
      fmt::format("Your code threw {} {}, where it should have returned", outcome.exception_type, where);
  outcome.message += outcome.exception_message.empty() ? "." : ": " + outcome.exception_message;
  return outcome;
}

}  // namespace course::grading
