# How programs of tests are compiled and run.

# What a test may take before it counts as hung; under sanitizers it is a share of a program.
set(HUMMER_TEST_SECONDS 300)
if(HUMMER_SANITIZE)
  set(HUMMER_TEST_SECONDS 1800)
endif()

# What tests of all modules share, as "support/file.hpp".
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/modules/support)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_BINARY_DIR}/modules/support/support SYMBOLIC)

# For programs of tests: many templates that run once, so the compiler's time counts for more than
# theirs: -Og takes a quarter less of it than -O1. Under sanitizers optimising costs more than half
# of it (docs/build_times.md).
function(hummer_compile_for_tests target)
  if(HUMMER_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
    if(HUMMER_SANITIZE MATCHES "address")
      target_compile_definitions(${target} PRIVATE __SANITIZE_ADDRESS__)
    endif()
  else()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
  endif()
endfunction()

# hummer_test_paths(<target> <name> <path> [<name> <path>...]): what test_path(name) says in <target>
# (tests/support/test_paths.hpp). Once for each target.
function(hummer_test_paths target)
  set(text "#include \"support/test_paths.hpp\"\n\n#include <cstdio>\n#include <cstdlib>\n\n")
  string(APPEND text "std::string hummer::test_path(std::string_view name) {\n")
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest name path)
    string(APPEND text "  if (name == \"${name}\") return \"${path}\";\n")
  endwhile()
  string(APPEND text "  std::fprintf(stderr, \"%.*s: hummer_test_paths() does not know it\\n\",\n"
                     "               static_cast<int>(name.size()), name.data());\n"
                     "  std::abort();\n}\n")
  set(source ${PROJECT_BINARY_DIR}/paths/${target}.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "${text}")
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/modules/support)
endfunction()

# hummer_add_tests(<target>): ctest runs each test of <target>, compiled from <x>_test.cpp files, in
# a process of its own. Under sanitizers, where a process takes up to half a second to begin and to
# look for leaks, in eight shares; what fails stands in the output of its share.
function(hummer_add_tests target)
  hummer_compile_for_tests(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/modules/support)
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  add_dependencies(all_tests ${target})
  if(NOT HUMMER_SANITIZE)
    gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT ${HUMMER_TEST_SECONDS})
    return()
  endif()
  set(shares 8)
  math(EXPR last "${shares} - 1")
  foreach(share RANGE ${last})
    set(name ${target}_${share})
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${HUMMER_TEST_SECONDS}
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${shares};GTEST_SHARD_INDEX=${share}")
  endforeach()
endfunction()
