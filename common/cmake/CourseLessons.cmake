# A lesson joins the build by having a folder with a lesson.json; nothing else names it.

# course_add_lesson(<folder>)
# For lessons/NN_name makes
#   NN_name_entries  the object that gives any kernel of this lesson its table of entry points
#   NN_name_test     the test program, from tests/lessons/NN_name_test.cpp and the sources in tests/lessons/NN_name, if any
#   NN_name_mistakes what that says of the mistakes it knows
#   NN_name          both, and what runs them
# and registers with CTest: the stub fails readably, the solution and each alternative pass, each mutant is rejected,
# and what trades a promise of the contract for something else fails the cases that it names.
function(course_add_lesson folder)
  cmake_path(GET folder FILENAME id)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/lesson.json)
  file(READ ${folder}/lesson.json json)
  string(JSON number ERROR_VARIABLE problem GET "${json}" number)
  if(NOT problem)
    string(JSON name ERROR_VARIABLE problem GET "${json}" name)
  endif()
  if(NOT problem)
    string(JSON entry_count ERROR_VARIABLE problem LENGTH "${json}" entries)
  endif()
  if(problem)
    message(FATAL_ERROR "lessons/${id}/lesson.json: ${problem}")
  endif()
  if(number LESS 10)
    set(number 0${number})
  endif()
  if(NOT id STREQUAL "${number}_${name}")
    message(FATAL_ERROR "lessons/${id}/lesson.json says lesson ${number}, ${name}: its folder would be ${number}_${name}")
  endif()

  set(entries "")
  math(EXPR last "${entry_count} - 1")
  foreach(index RANGE ${last})
    string(JSON entry GET "${json}" entries ${index})
    list(APPEND entries "COURSE_ENTRY(course::${entry})")
  endforeach()
  list(JOIN entries ", " entries)
  set(entries_source ${PROJECT_BINARY_DIR}/lessons/${id}/entries.cpp)
  file(CONFIGURE OUTPUT ${entries_source} @ONLY CONTENT
       "#include \"@id@/@name@.hpp\"\n#include \"grading/calls/entry.hpp\"\n\nCOURSE_ENTRIES(@entries@);\n")
  add_library(${id}_entries OBJECT ${entries_source})
  target_link_libraries(${id}_entries PRIVATE course::options)

  file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/lessons/${id}/*.cpp)
  add_executable(${id}_test ${PROJECT_SOURCE_DIR}/tests/lessons/${id}_test.cpp ${parts})
  # What tests share is linked before lesson_main, whose checks it calls.
  set(shared course::drawn_tests)
  if(number GREATER_EQUAL 6)
    list(APPEND shared course::product_tests)
  endif()
  if(number GREATER_EQUAL 7)  # from here on, lessons are about attention
    list(APPEND shared course::attention_tests)
  endif()
  target_link_libraries(${id}_test PRIVATE course::options ${shared} course::lesson_main course::reference course::tensor)
  course_compile_test(${id}_test -O1)
  set_target_properties(${id}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/lessons)

  # What the tests know of mistakes, for `course explain`: told without a kernel, in less than half a second.
  set(mistakes ${PROJECT_BINARY_DIR}/bin/lessons/${id}_test_mistakes.json)
  add_custom_command(
    OUTPUT ${mistakes}
    COMMAND ${id}_test --list-mistakes > ${mistakes}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${mistakes}.new ${mistakes}
    DEPENDS ${id}_test
    COMMENT "Listing the mistakes that the tests of ${id} know"
    VERBATIM)
  add_custom_target(${id}_mistakes ALL DEPENDS ${mistakes})

  add_custom_target(${id} DEPENDS ${id}_entries ${id}_test ${id}_mistakes course-workers)
  set_property(GLOBAL APPEND PROPERTY COURSE_LESSONS ${id})
  if(TARGET course)
    course_add_judge_tests(${id} ${number} ${name})
  endif()
endfunction()

# CTest entries for the kernels that the lesson's tests must tell apart: one for each that is right, one for the stub, and
# one for all mutants, which are compiled together; it prints a line for each of them.
function(course_add_judge_tests id number name)
  if(TARGET course-worker-cpu)
    set(variants stub solution)
    set(folder ${PROJECT_SOURCE_DIR}/tests/lessons)
    file(GLOB files CONFIGURE_DEPENDS ${folder}/alternatives/${id}/*.cu)
    foreach(file IN LISTS files)
      cmake_path(GET file STEM stem)
      list(APPEND variants alternative/${stem})
    endforeach()
    foreach(variant IN LISTS variants)
      string(REPLACE "/" "." test_name lesson.${number}.${variant})
      add_test(NAME ${test_name} COMMAND course judge ${number} --only ${variant} --quick --backend cpu)
      set_tests_properties(${test_name} PROPERTIES TIMEOUT 300)
    endforeach()
    file(GLOB files CONFIGURE_DEPENDS ${folder}/tradeoffs/${id}/*.cu)
    foreach(file IN LISTS files)
      cmake_path(GET file STEM stem)
      set(test_name lesson.${number}.tradeoff.${stem})
      add_test(NAME ${test_name}
               COMMAND ${COURSE_PYTHON} -B ${folder}/check_tradeoff.py $<TARGET_FILE:course> ${number} ${file})
      set_tests_properties(${test_name} PROPERTIES TIMEOUT 300)
    endforeach()
    add_test(NAME lesson.${number}.mutants COMMAND course judge ${number} --only mutant --quick --backend cpu)
    # It compiles and runs on two cores, and so waits until two places are free; long ones come first.
    set_tests_properties(lesson.${number}.mutants PROPERTIES TIMEOUT 900 COST 500 PROCESSORS 2)
  endif()
  if(TARGET course-worker-cuda)
    add_test(NAME lesson.${number}.compiles.gpu COMMAND course build ${number} --solution --quick --backend gpu)
    add_test(NAME lesson.${number}.gpu COMMAND course judge ${number} --backend gpu)
    # 3: no GPU answers here.
    set_tests_properties(lesson.${number}.gpu PROPERTIES SKIP_RETURN_CODE 3 RESOURCE_LOCK gpu TIMEOUT 900)
  endif()
endfunction()

# course_add_lessons(): every lesson of the project.
function(course_add_lessons)
  file(GLOB descriptions CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lessons/*/lesson.json)
  foreach(description IN LISTS descriptions)
    cmake_path(GET description PARENT_PATH folder)
    course_add_lesson(${folder})
  endforeach()
endfunction()

# course_precompile_prelude(<target> <header> <folder> <flag>...): makes <target>, that header of common/simt/shim
# precompiled in that folder of ${PROJECT_BINARY_DIR}/prelude. g++ finds it there under the header's name and, if it does
# not fit, takes the header. It has the flags of what is compiled behind it: g++ 12 can crash over a header that was
# optimised otherwise.
function(course_precompile_prelude target header folder)
  set(source ${PROJECT_SOURCE_DIR}/common/simt/shim/${header})
  set(output ${PROJECT_BINARY_DIR}/prelude/${folder}/${header}.gch)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/prelude/${folder})
  # Moved into its place, because a kernel may be compiled at the same time.
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_CXX_COMPILER} ${ARGN} -w -MD -MT ${output} -MF ${output}.d -x c++-header ${source} -o ${output}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${output}.new ${output}
    DEPENDS ${source}
    DEPFILE ${output}.d
    COMMENT "Precompiling ${header} (${folder})"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
endfunction()

# course_add_preludes(): the targets course-prelude-<flavour> for lessons' kernels, and for programs, which only
# `./course simulate` compiles, course-program-prelude-<flavour>.
function(course_add_preludes)
  course_simulated_kernel_flags(run_flags unused)
  course_quick_kernel_flags(quick_flags ${run_flags})
  course_checked_kernel_flags(check_flags unused)
  foreach(flavour IN ITEMS run quick check)
    course_precompile_prelude(course-prelude-${flavour} simt_prelude.h ${flavour} ${${flavour}_flags} -Werror=vla)
  endforeach()
  foreach(flavour IN ITEMS run check)
    course_precompile_prelude(course-program-prelude-${flavour} simt_program_prelude.h ${flavour}
                              ${${flavour}_flags} -DSIMT_PROGRAM)
    add_dependencies(course_simt_program course-program-prelude-${flavour})
  endforeach()
endfunction()

# course_add_workers(): the target course-workers, what every lesson's kernels need to be built and run.
function(course_add_workers)
  add_custom_target(course-workers)
  if(TARGET course-worker-cpu AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    course_add_preludes()
  endif()
  foreach(target IN ITEMS simt-rewrite course_simt course-worker-cpu course-prelude-run course-prelude-check
          course_gpu_ledger)
    if(TARGET ${target})
      add_dependencies(course-workers ${target})
    endif()
  endforeach()
  if(TARGET course-prelude-quick)
    add_dependencies(course-staff course-prelude-quick)  # `judge --quick`; g++ takes an old one without a word
  endif()
endfunction()

# course_write_toolchain(): writes toolchain.json, from which `course` learns how to build and run a kernel.
# It holds what CMake knows, so that compiling a student's file takes no CMake run.
function(course_write_toolchain)
  get_property(ids GLOBAL PROPERTY COURSE_LESSONS)
  set(lessons "")
  foreach(id IN LISTS ids)
    list(APPEND lessons
         "    {\"folder\": \"${id}\", \"entries\": \"$<TARGET_OBJECTS:${id}_entries>\", \"test\": \"$<TARGET_FILE:${id}_test>\"}")
  endforeach()
  list(JOIN lessons ",\n" lessons)

  set(cpu null)
  if(TARGET course-worker-cpu)
    course_checked_kernel_flags(check_flags check_link_flags)
    course_simulated_kernel_flags(flags link_flags)
    course_quick_kernel_flags(quick_flags ${flags})
    course_json_list(flags ${flags})
    course_json_list(quick_flags ${quick_flags})
    course_json_list(check_flags ${check_flags})
    course_json_list(link_flags ${link_flags})
    course_json_list(check_link_flags ${check_link_flags})
    # An object of 16 kernels is linked 16 times, each time for one of them: gold takes a sixth of the time. With the
    # support of programs, half.
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=gold COURSE_HAVE_GOLD)
    set(fast_link_flags "")
    if(COURSE_HAVE_GOLD)
      set(fast_link_flags -fuse-ld=gold)
    endif()
    course_json_list(fast_link_flags ${fast_link_flags})
    set(prelude "")
    set(quick_prelude "")
    set(check_prelude "")
    if(TARGET course-prelude-run)
      set(prelude ${PROJECT_BINARY_DIR}/prelude/run)
      set(quick_prelude ${PROJECT_BINARY_DIR}/prelude/quick)
      set(check_prelude ${PROJECT_BINARY_DIR}/prelude/check)
    endif()
    set(cpu "{
    \"compiler\": \"${CMAKE_CXX_COMPILER}\",
    \"flags\": ${flags},
    \"quick_flags\": ${quick_flags},
    \"check_flags\": ${check_flags},
    \"check_link_flags\": ${check_link_flags},
    \"fast_link_flags\": ${fast_link_flags},
    \"link_flags\": ${link_flags},
    \"library\": \"$<TARGET_FILE:course_simt>\",
    \"worker\": \"$<TARGET_FILE:course-worker-cpu>\",
    \"bridge\": \"$<TARGET_FILE:course_bridge_cpu>\",
    \"program_support\": \"$<TARGET_PROPERTY:course_simt_program,COURSE_OBJECT>\",
    \"prelude\": \"${prelude}\",
    \"quick_prelude\": \"${quick_prelude}\",
    \"check_prelude\": \"${check_prelude}\"
  }")
  endif()

  set(gpu null)
  if(TARGET course-worker-cuda)
    course_json_list(architectures ${CMAKE_CUDA_ARCHITECTURES})
    set(gpu_flags -std=c++20 -lineinfo -Xcompiler -fPIC)
    course_json_list(flags ${gpu_flags} -O3)
    course_json_list(quick_flags ${gpu_flags} -Xcicc -O0 -Xptxas -O0)  # takes half of the time, or less
    # cudart is shared with the worker: two copies would each have their own last error.
    # The ledger's own calls go to the real functions, all others through it.
    set(wrapped cudaMalloc cudaMallocManaged cudaMallocAsync cudaFree cudaFreeAsync __cudaPushCallConfiguration
                cudaMallocHost cudaHostAlloc cudaHostRegister cudaFreeHost cudaHostUnregister cudaMemcpy cudaMemcpyAsync
                cudaMemcpy2D cudaMemcpy2DAsync cudaMemcpyFromSymbol cudaMemcpyFromSymbolAsync)
    list(TRANSFORM wrapped PREPEND -Wl,--wrap=)
    course_json_list(link_flags -L${CUDAToolkit_LIBRARY_DIR} -lcudart -Wl,-rpath,${CUDAToolkit_LIBRARY_DIR}
                     ${course_fixed_calls} ${wrapped})
    set(gpu "{
    \"compiler\": \"${CUDAToolkit_NVCC_EXECUTABLE}\",
    \"host_compiler\": \"${CMAKE_CXX_COMPILER}\",
    \"flags\": ${flags},
    \"quick_flags\": ${quick_flags},
    \"link_flags\": ${link_flags},
    \"architectures\": ${architectures},
    \"ledger\": \"$<TARGET_OBJECTS:course_gpu_ledger>\",
    \"worker\": \"$<TARGET_FILE:course-worker-cuda>\",
    \"bridge\": \"$<TARGET_FILE:course_bridge_gpu>\"
  }")
  endif()

  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/toolchain.json CONTENT "{
  \"source_dir\": \"${PROJECT_SOURCE_DIR}\",
  \"binary_dir\": \"${PROJECT_BINARY_DIR}\",
  \"ninja\": \"${CMAKE_MAKE_PROGRAM}\",
  \"ctest\": \"${CMAKE_CTEST_COMMAND}\",
  \"rewriter\": \"$<TARGET_FILE:simt-rewrite>\",
  \"cpu\": ${cpu},
  \"gpu\": ${gpu},
  \"lessons\": [
${lessons}
  ]
}
")
endfunction()

# course_json_list(<variable> <item>...): the items as a JSON array of strings.
function(course_json_list variable)
  list(TRANSFORM ARGN PREPEND "\"")
  list(TRANSFORM ARGN APPEND "\"")
  list(JOIN ARGN ", " items)
  set(${variable} "[${items}]" PARENT_SCOPE)
endfunction()

# course_processor_flags(<variable>): flags for the instructions of this machine that are worth having; kernels get
# fused multiply-adds in hardware from them.
function(course_processor_flags variable)
  set(flags "")
  include(CheckCXXSourceRuns)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_runs([[
      int main() {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? 0 : 1;
      }]] COURSE_HAVE_X86_64_V3)
  if(COURSE_HAVE_X86_64_V3)
    set(flags -march=x86-64-v3)
  endif()
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()

# course_simulated_kernel_flags(<compile flags variable> <link flags variable>): a kernel for the simulator's run mode.
function(course_simulated_kernel_flags compile_variable link_variable)
  # -fno-strict-aliasing: CUDA code reads one type as another in shared memory. -fno-finite-loops: an endless loop
  # must stay endless, so that it is reported. -ffp-contract=fast: multiply-adds are fused, as nvcc does.
  # -fno-optimize-sibling-calls: a report names the line that called the runtime, so that call must leave a trace.
  # -fno-math-errno: device functions set no errno. Not -fno-trapping-math: with it g++ takes (float)(int)x for
  # truncf(x), which keeps -0 and NaN. -ftrivial-auto-var-init=pattern: a variable that nobody sets is not 0, as the
  # compiler would mostly make it, and as a register of a GPU need not be.
  set(flags -std=c++20 -O2 -g1 -fPIC -fno-strict-aliasing -fno-finite-loops -ffp-contract=fast
            -fno-optimize-sibling-calls -fno-math-errno -ftrivial-auto-var-init=pattern)
  # A file may have errors without end; a report has the first.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND flags -ferror-limit=50)
  else()
    list(APPEND flags -fmax-errors=50)
  endif()
  course_processor_flags(processor_flags)
  list(APPEND flags ${processor_flags})
  set(link_flags ${course_fixed_calls})
  if(COURSE_SANITIZE)
    list(APPEND flags -fsanitize=${COURSE_SANITIZE})
    list(APPEND link_flags -fsanitize=${COURSE_SANITIZE})
  endif()
  set(${compile_variable} ${flags} PARENT_SCOPE)
  set(${link_variable} ${link_flags} PARENT_SCOPE)
endfunction()

# course_quick_kernel_flags(<variable> <flag>...): those of run mode for a kernel of which a case or two are run: it is
# compiled sooner, and is slower. Not with -O0: the mutants of lesson 17 then take twice as long in all. With its lines, by
# which a fault is told.
function(course_quick_kernel_flags variable)
  list(TRANSFORM ARGN REPLACE "^-O2$" "-O1" OUTPUT_VARIABLE flags)
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()

# course_checked_kernel_flags(<compile flags variable> <link flags variable>): a kernel for the simulator's check mode.
# The compiler calls a hook at every access, bounds check and straight piece of code. The hooks are the simulator's own,
# so nothing is linked with -fsanitize.
function(course_checked_kernel_flags compile_variable link_variable)
  course_simulated_kernel_flags(flags link_flags)
  # What the sanitizers of the project's own code would add to the kernel has no hooks. A variable that nobody sets is
  # not what it is in run mode, so that the two differ.
  list(FILTER flags EXCLUDE REGEX "^-fsanitize=|^-ftrivial-auto-var-init=")
  # -O1: locals live in registers, where they are not counted, and yet an access stays where the source has it.
  # -g: names of arrays and inlined calls, for reports. trace-pc tells which lanes of a warp are at which place.
  list(TRANSFORM flags REPLACE "^-O2$" "-O1")
  list(TRANSFORM flags REPLACE "^-g1$" "-g")
  list(APPEND flags -DSIMT_CHECK=1 -fsanitize=thread,bounds,alignment,shift -fsanitize-coverage=trace-pc)
  # A volatile access is told apart: kernels wait for each other with it.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # x += 1 is a read, too. One access of the source must stay one access of the program.
    list(APPEND flags -mllvm -tsan-distinguish-volatile=1 -mllvm -tsan-instrument-read-before-write=1
                      -fno-vectorize -fno-slp-vectorize -fno-unroll-loops)
    # Nor may two places of the source become one, an access move to where its value is used or out of a loop, or code
    # leave the order of the source.
    list(APPEND flags -mllvm -hoist-common-insts=0 -mllvm -sink-common-insts=0 -mllvm -simplifycfg-merge-cond-stores=0
                      -mllvm -simplifycfg-sink-common=0 -mllvm -instcombine-code-sinking=0 -mllvm -enable-tail-merge=0
                      -mllvm -disable-licm-promotion -mllvm -disable-block-placement)
    # Of `bounds`, the half that says which index it was; the other half stops the program.
    list(REMOVE_ITEM flags -fsanitize=thread,bounds,alignment,shift)
    list(APPEND flags -fsanitize=thread,array-bounds,alignment,shift -fdeclspec)  # for simt_failed_checks.h
  else()
    # -fno-tree-sra: a float4 that is loaded, changed and stored stays one access. -fno-reorder-blocks: a warp that has
    # split replays its lowest address first, so code must lie in the order of the source. -fno-tree-sink: a load whose
    # value only one branch uses stays where the source has it.
    # -fno-builtin-...: a copy of known size stays a call, which is seen.
    # -fexpensive-optimizations: without it, products and sums are not fused.
    # -fno-var-tracking: where locals are is what only a debugger asks, and finding that out takes the compiler long.
    list(APPEND flags --param=tsan-distinguish-volatile=1 -fno-tree-sra -fno-reorder-blocks -fno-tree-sink
                      -fexpensive-optimizations -fno-var-tracking
                      -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset)
    # What kernels may not call is not to become loads and stores of the compiler's either.
    foreach(function IN ITEMS memchr memcmp stpcpy stpncpy strcat strchr strcmp strcpy strcspn strlen strncat strncmp
                              strncpy strpbrk strrchr strspn strstr)
      list(APPEND flags -fno-builtin-${function})
    endforeach()
  endif()
  # Memory that a kernel allocates, bytes that it copies and results that it has stored by functions of the C library are
  # seen as well.
  foreach(function IN ITEMS malloc free memcpy memmove memset _Znwm _Znam _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm modf modff frexp
                            frexpf remquo remquof sincos sincosf printf __printf_chk)
    list(APPEND link_flags -Wl,--wrap=${function})
  endforeach()
  set(${compile_variable} ${flags} PARENT_SCOPE)
  set(${link_variable} ${link_flags} PARENT_SCOPE)
endfunction()
