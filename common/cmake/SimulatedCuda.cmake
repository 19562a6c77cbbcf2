# simt_add_sources(<target> [CHECKED] [QUICK] [NESTED] <file.cu>...): CUDA source in an ordinary program of this project,
# run by the simulator. CHECKED: compiled for check mode. QUICK: compiled without optimising, for what takes longer to
# compile than to run, with flags that fit target_precompile_headers(). NESTED: kernels may launch kernels. (The kernels
# of lessons are built at run time, by common/grading/build/kernel_build.cpp, with the same flags.)
function(simt_add_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CHECKED;QUICK;NESTED" "" "")
  set(folder_of_rewritten ${CMAKE_CURRENT_BINARY_DIR}/rewritten)
  set(nested_launches)
  if(arg_NESTED)
    set(nested_launches --nested-launches)
  endif()
  if(arg_CHECKED)
    string(APPEND folder_of_rewritten /checked)
    course_checked_kernel_flags(compile_flags link_flags)
    # The target's own sanitizers contradict those of check mode; and instrumented code hides from g++ what is
    # initialised, and has warnings of its own about fences, which are the simulator's.
    list(PREPEND compile_flags -fno-sanitize=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND compile_flags -Wno-maybe-uninitialized -Wno-tsan)
    endif()
  else()
    course_simulated_kernel_flags(compile_flags link_flags)
    if(arg_QUICK)
      course_quick_kernel_flags(compile_flags ${compile_flags})
      target_compile_options(${target} PRIVATE ${compile_flags})
    endif()
  endif()
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(GET file STEM stem)
    set(rewritten ${folder_of_rewritten}/${stem}.cpp)
    add_custom_command(
      OUTPUT ${rewritten}
      COMMAND simt-rewrite ${CMAKE_CURRENT_SOURCE_DIR}/${file} -o ${rewritten} -I ${PROJECT_SOURCE_DIR}/common
              --own-headers ${PROJECT_SOURCE_DIR}/common/simt/shim ${nested_launches}
      DEPENDS simt-rewrite ${file}
      COMMENT "Rewriting ${file}")
    target_sources(${target} PRIVATE ${rewritten})
    cmake_path(GET file PARENT_PATH folder)
    set_source_files_properties(${rewritten} PROPERTIES
      COMPILE_OPTIONS "${compile_flags};-iquote;${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  endforeach()
  target_include_directories(${target} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/common/simt/shim)
  target_link_libraries(${target} PRIVATE course::simt)
  target_link_options(${target} PRIVATE ${link_flags})
endfunction()
