# simt_add_sources(<target> <file.cu>...): CUDA source in an ordinary program of this project, run by the simulator.
# (The kernels of lessons are built at run time, by common/grading/kernel_build.cpp, with the same flags.)
function(simt_add_sources target)
  course_simulated_kernel_flags(compile_flags link_flags)
  foreach(file IN LISTS ARGN)
    cmake_path(GET file STEM stem)
    set(rewritten ${CMAKE_CURRENT_BINARY_DIR}/rewritten/${stem}.cpp)
    add_custom_command(
      OUTPUT ${rewritten}
      COMMAND simt-rewrite ${CMAKE_CURRENT_SOURCE_DIR}/${file} -o ${rewritten} -I ${PROJECT_SOURCE_DIR}/common
      DEPENDS simt-rewrite ${file}
      COMMENT "Rewriting ${file}")
    target_sources(${target} PRIVATE ${rewritten})
    cmake_path(GET file PARENT_PATH folder)
    set_source_files_properties(${rewritten} PROPERTIES
      COMPILE_OPTIONS "${compile_flags};-iquote;${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  endforeach()
  target_include_directories(${target} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/common/simt/shim)
  target_link_libraries(${target} PRIVATE course::simt)
endfunction()
