# Libraries, programs and unit tests of the project, all built alike.

# Include roots, language level and warnings, for every target of ours.
add_library(course_options INTERFACE)
target_include_directories(course_options INTERFACE ${PROJECT_SOURCE_DIR}/common ${PROJECT_SOURCE_DIR}/lessons)
target_compile_features(course_options INTERFACE cxx_std_20)
target_compile_options(course_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ tidies its memory every 128 MiB otherwise, which takes a tenth of its time; a file takes 700 MiB at most like this.
  target_compile_options(course_options INTERFACE --param=ggc-min-heapsize=524288)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(course_options INTERFACE -Wno-restrict)  # false alarms on string concatenation, GCC bug 105651
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # libstdc++ 12 sorts stably by means of a function that it calls deprecated itself.
  target_compile_options(course_options INTERFACE -Wno-deprecated-declarations)
endif()
if(COURSE_SANITIZE)
  target_compile_options(course_options INTERFACE -fsanitize=${COURSE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(course_options INTERFACE -fsanitize=${COURSE_SANITIZE})
  # The instrumentation hides from g++ what is initialised; the sanitizer looks at run time.
  target_compile_options(course_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
add_library(course::options ALIAS course_options)

# Of a library or program that code of a student's is in, or beside: the table by which it calls other libraries is filled
# when it is loaded, and read-only from then on. Code in the same process could turn check mode's hooks away there.
set(course_fixed_calls -Wl,-z,relro,-z,now)

# Catch2 2.13 or 3.x with its main(); tests include "support/catch.hpp", which knows the difference.
add_library(course_catch INTERFACE)
target_include_directories(course_catch INTERFACE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(course_catch INTERFACE Catch2::Catch2WithMain)
add_library(course::catch ALIAS course_catch)
include(Catch)

# course_add_library(<name> [SOURCES] <file>... [LIBS <target>...] [PRIVATE_LIBS <target>...])
# Makes course_<name> with the alias course::<name>; an interface library when no file is a source file.
function(course_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;PRIVATE_LIBS")
  set(files ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  set(sources ${files})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  if(sources)
    add_library(course_${name} STATIC ${files})
    target_link_libraries(course_${name} PUBLIC course::options ${arg_LIBS} PRIVATE ${arg_PRIVATE_LIBS})
  else()
    add_library(course_${name} INTERFACE ${files})
    target_link_libraries(course_${name} INTERFACE course::options ${arg_LIBS} ${arg_PRIVATE_LIBS})
  endif()
  add_library(course::${name} ALIAS course_${name})
endfunction()

# course_compile_quickly(<target>)
# For code that takes longer to compile than to run: what only puts words together.
function(course_compile_quickly name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# course_precompile(<target>): what the libraries that read and write words include, precompiled once for all of them.
# Only for course_compile_quickly(): g++ takes a precompiled header only under the flags that it was made with. Without
# nlohmann/json.hpp: its literals make g++ instantiate the parser in every file, half a second each.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/library_prelude.cpp CONTENT "")
add_library(course_library_prelude STATIC ${PROJECT_BINARY_DIR}/library_prelude.cpp)
target_link_libraries(course_library_prelude PRIVATE course::options fmt::fmt)
course_compile_quickly(course_library_prelude)
target_precompile_headers(course_library_prelude PRIVATE
  <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <optional> <set> <sstream> <string>
  <string_view> <system_error> <utility> <vector> <fmt/format.h>)
function(course_precompile name)
  target_precompile_headers(${name} REUSE_FROM course_library_prelude)
endfunction()

# course_compile_together(<target> <group> <file>...)
# In a unity build, the target's files of one group become one; those that include nlohmann/json.hpp are a group of their
# own. g++ compiles templates anew for each file that it gets, and those of JSON alone take it two seconds.
function(course_compile_together name group)
  set_target_properties(${name} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} json REGEX "nlohmann/json\\.hpp")
    if(json)
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP json)
    else()
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# course_compile_test(<target> <level>)
# Compiles a program of tests with that level of optimisation, such as -O0, behind what nearly every test includes. That
# is precompiled once for each level, for a program that does nothing: programs are compiled with -fPIE, libraries with
# -fPIC, and g++ takes a precompiled header only under the flags that it was made with.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_prelude.cpp CONTENT "int main() {}\n")
function(course_compile_test name level)
  set(prelude course_test_prelude${level})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${level}>)
  if(NOT TARGET ${prelude})
    add_executable(${prelude} ${PROJECT_BINARY_DIR}/test_prelude.cpp)
    target_link_libraries(${prelude} PRIVATE course::options course::catch)
    target_compile_options(${prelude} PRIVATE $<$<CONFIG:Release>:${level}>)
    target_precompile_headers(${prelude} PRIVATE
      "${PROJECT_SOURCE_DIR}/tests/support/catch.hpp" <algorithm> <cmath> <cstdint> <filesystem> <functional> <map>
      <optional> <random> <set> <sstream> <string> <vector>)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${prelude})
endfunction()

# course_add_test(<name> SOURCES <file>... [APART <file>...] [LIBS <target>...])
# Makes the Catch2 program <name> and registers each of its cases with CTest as "<name>.<case>". In a unity build its
# SOURCES are compiled as one, and so no two of them may define the same name. What stands APART is compiled alone.
function(course_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;APART;LIBS")
  add_executable(${name} ${arg_SOURCES} ${arg_APART} ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES UNITY_BUILD "${unity_build}" UNITY_BUILD_BATCH_SIZE 0)
  set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(${name} PRIVATE course::options course::catch ${arg_LIBS})
  course_compile_test(${name} -O0)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/tests)
  catch_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE POST_BUILD)
endfunction()
