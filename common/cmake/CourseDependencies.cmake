# Finds what the project needs and says plainly what is missing. Sets:
#   COURSE_HAVE_SIMULATOR  kernels can run on the CPU
#   COURSE_HAVE_CUDA       a CUDA toolkit is there, so kernels can be built for a GPU
#   COURSE_HAVE_BENCHMARK  Google Benchmark is there
#   COURSE_CLANG_FORMAT, COURSE_CLANG_TIDY  paths, or empty

set(needs "")
macro(course_find_required package name debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    string(APPEND needs "\n  ${name} (Debian and Ubuntu: ${debian})")
  endif()
endmacro()

course_find_required(Threads "POSIX threads" libc6-dev)
course_find_required(fmt "fmt" libfmt-dev)
course_find_required(nlohmann_json "JSON for Modern C++" nlohmann-json3-dev)
course_find_required(CLI11 "CLI11" libcli11-dev)
course_find_required(Catch2 "Catch2 2.13 or newer" catch2)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  string(APPEND needs "\n  g++ 12 or newer; ${CMAKE_CXX_COMPILER} is version ${CMAKE_CXX_COMPILER_VERSION}")
endif()

# The simulator switches from stack to stack by code of its own on x86-64, and by Boost.Context elsewhere.
set(elsewhere ON)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(elsewhere OFF)
endif()
option(COURSE_BOOST_CONTEXT "The simulator switches stacks by Boost.Context" ${elsewhere})
find_package(Boost 1.74 QUIET COMPONENTS context)
set(lacking)
if(COURSE_BOOST_CONTEXT AND NOT Boost_CONTEXT_FOUND)
  set(lacking "Boost.Context (libboost-context-dev)")
endif()
# Throwing is noticed on the way to the C++ library, which must be a shared one.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so
                OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${library}")
  set(lacking "shared C++ library (libstdc++.so)")
endif()
set(COURSE_HAVE_SIMULATOR ON)
if(lacking)
  set(COURSE_HAVE_SIMULATOR OFF)
  message(STATUS "No ${lacking}: the CPU simulator is left out")
endif()

# libbacktrace comes with g++, its header where only g++ looks; clang uses the archive of the g++ that it finds. That
# folder comes last: it has g++'s own versions of headers that every compiler has.
if(COURSE_HAVE_SIMULATOR)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libbacktrace.a
                  OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE)
  cmake_path(GET archive PARENT_PATH folder)
  find_path(COURSE_BACKTRACE_INCLUDE backtrace.h HINTS ${folder}/include)
  mark_as_advanced(COURSE_BACKTRACE_INCLUDE)
  if(COURSE_BACKTRACE_INCLUDE)
    add_library(course_backtrace INTERFACE)
    target_compile_options(course_backtrace INTERFACE "SHELL:-idirafter ${COURSE_BACKTRACE_INCLUDE}")
    target_link_libraries(course_backtrace INTERFACE backtrace)
    add_library(course::backtrace ALIAS course_backtrace)
  else()
    string(APPEND needs "\n  libbacktrace (Debian and Ubuntu: g++)")
  endif()
endif()

find_package(CUDAToolkit 12.4 QUIET)
set(COURSE_HAVE_CUDA ${CUDAToolkit_FOUND})
if(COURSE_HAVE_CUDA)
  message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION}: the GPU backend is built for ${CMAKE_CUDA_ARCHITECTURES}")
else()
  set(COURSE_HAVE_CUDA OFF)
  message(STATUS "No CUDA toolkit 12.4 or newer: the GPU backend is left out")
  if(COURSE_REQUIRE_CUDA)
    string(APPEND needs "\n  CUDA toolkit 12.4 or newer, with nvcc on PATH or CUDAToolkit_ROOT set")
  endif()
endif()

if(NOT COURSE_HAVE_SIMULATOR AND NOT COURSE_HAVE_CUDA)
  string(APPEND needs "\n  ${lacking} for the CPU simulator, or a CUDA toolkit for a GPU")
endif()
if(needs)
  message(FATAL_ERROR "This machine lacks:${needs}\n`./course` installs what it can on Debian and Ubuntu; "
                      "elsewhere, install these with your package manager.")
endif()

find_package(benchmark QUIET)
set(COURSE_HAVE_BENCHMARK ${benchmark_FOUND})
if(NOT COURSE_HAVE_BENCHMARK)
  set(COURSE_HAVE_BENCHMARK OFF)
  message(STATUS "No Google Benchmark (libbenchmark-dev): the benchmarks are left out")
endif()

# Clang-format's output changes between versions, so the lint names the one that the sources are formatted with.
find_program(COURSE_CLANG_FORMAT NAMES clang-format-14 clang-format)
find_program(COURSE_CLANG_TIDY NAMES clang-tidy-14 clang-tidy)
# The system's own Python comes first: it is the one that the distribution's NumPy and matplotlib belong to.
find_program(COURSE_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(COURSE_PYTHON NAMES python3)
foreach(tool IN ITEMS CLANG_FORMAT CLANG_TIDY PYTHON)
  if(NOT COURSE_${tool})
    string(TOLOWER ${tool} tool_name)
    string(REPLACE "_" "-" tool_name ${tool_name})
    message(STATUS "No ${tool_name}: the checks that use it are reported as skipped")
  endif()
endforeach()
