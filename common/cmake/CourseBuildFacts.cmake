# What the build found, for ./course doctor and reports of bugs.

# course_write_build_facts(): writes facts.json. A library that was not found has an empty version.
function(course_write_build_facts)
  set(libraries "{}")
  foreach(library IN ITEMS Boost Catch2 CLI11 fmt nlohmann_json benchmark)
    string(JSON libraries SET "${libraries}" ${library} "\"${${library}_VERSION}\"")
  endforeach()
  set(facts "{}")
  string(JSON facts SET "${facts}" version "\"${PROJECT_VERSION}\"")
  string(JSON facts SET "${facts}" build_type "\"${CMAKE_BUILD_TYPE}\"")
  string(JSON facts SET "${facts}" compiler "\"${CMAKE_CXX_COMPILER}\"")
  string(JSON facts SET "${facts}" compiler_id "\"${CMAKE_CXX_COMPILER_ID}\"")
  string(JSON facts SET "${facts}" cmake "\"${CMAKE_COMMAND}\"")
  string(JSON facts SET "${facts}" libraries "${libraries}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/facts.json CONTENT "${facts}\n" @ONLY)
endfunction()
