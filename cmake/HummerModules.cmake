# hummer_module(<name> [FOR_SIZE] [PLUGIN] [SINGLE_THREADED_TESTS [BUT <x>_test.cpp...]]
#               [USES <module>...] [TESTS_USE <module>...] [LINK <target>...])
#
# Makes the library `hummer_<name>` of every source in src/<name>/ that is not
# a test, benchmark, fuzz target, main program (*_main.cpp) or plugin (*_plugin.cpp), and beside it
#   hummer_<name>_tests   of all *_test.cpp   (one executable, registered with ctest), but for
#                         *_plugin_test.cpp, which are programs of their own
#   hummer_<name>_<x>_bench  of each <x>_bench.cpp; one that reads the variable HUMMER_SHORT is
#                         also a test: with HUMMER_SHORT=1, it runs a second at most
#   fuzz_<x>              of each <x>_fuzz.cpp (with HUMMER_FUZZ; the target `fuzzers` is all of them)
#
# <x>_v3.cpp and <x>_v4.cpp are compiled for x86-64-v3, and v4 with VBMI2: they run
# only where best_instruction_set() says so. Such a file keeps all but its entry
# points in an anonymous namespace and uses no inline function of other headers,
# lest the linker pick its copy for everyone.
#
# TESTS_USE: modules that only what stands beside the code (tests, benchmarks, fuzz targets) may use; they may
# be higher ones, as no other source sees them.
#
# FOR_SIZE: no record passes through it, and it is optimised for size in release.
#
# PLUGIN: no part of the engine's archives: what the program loads is made of it (HummerPlugin.cmake).
#
# SINGLE_THREADED_TESTS: these tests start no thread (but for those files of them that BUT names), so
# ThreadSanitizer has nothing to find and the preset tsan leaves them out; ASan runs them. In release
# hummer_<name>_tests ends with an error when one of them starts a thread after all
# (tests/no_threads.cpp). What BUT names is a program of its own, hummer_<name>_threaded_tests.
#
# A module's headers are included as "<name>/file.hpp". They are reached through a
# private include root that holds one symbolic link, so only targets that link
# the module can see them. What the compiler can't see (headers that nobody compiles yet, system
# headers above the platform module, sizes, names) is read by scripts/check-layering.
if(HUMMER_FUZZ)
  add_custom_target(fuzzers)
endif()

# The target `all_tests`: every program that ctest runs, but for the benchmarks.
if(HUMMER_TESTS)
  add_custom_target(all_tests)
endif()

# Compiles those of the sources for the instruction sets that their names say.
function(hummer_instruction_sets)
  foreach(source ${ARGN})
    # GCC 12 warns about the undefined lanes inside its own AVX-512 headers (bug 105593).
    if(source MATCHES "_v3\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -march=x86-64-v3)
    elseif(source MATCHES "_v4\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
        "-march=x86-64-v4;-mavx512vbmi2;$<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>")
    endif()
  endforeach()
endfunction()

# Makes the fuzz target fuzz_<x> of a source, linked with the targets behind it.
function(hummer_add_fuzzer x source)
  add_executable(fuzz_${x} ${source})
  target_link_libraries(fuzz_${x} PRIVATE ${ARGN})
  # The target itself, too: libFuzzer refuses to begin when its first inputs reach nothing counted.
  target_compile_options(fuzz_${x} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(fuzz_${x} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${x})
endfunction()

# Makes the program <target> of tests in a module, which may use what <uses> lists too.
function(hummer_module_tests target name uses)
  hummer_unity(compiled ${target} ${ARGN})
  add_executable(${target} ${compiled})
  target_link_libraries(${target} PRIVATE hummer_${name} ${uses})
  hummer_add_tests(${target})
endfunction()

function(hummer_module name)
  cmake_parse_arguments(MODULE "FOR_SIZE;PLUGIN;SINGLE_THREADED_TESTS" "" "BUT;USES;TESTS_USE;LINK" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/src/${name})
  set(root ${PROJECT_BINARY_DIR}/modules/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${dir} ${root}/${name} SYMBOLIC)

  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${dir}/*.cpp)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz|main|plugin)\\.cpp$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests EXCLUDE REGEX "_plugin_test\\.cpp$")
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")

  hummer_instruction_sets(${sources})

  set(scope PUBLIC)
  if(sources)
    hummer_unity(compiled hummer_${name} ${sources})
    add_library(hummer_${name} STATIC ${compiled})
    if(NOT MODULE_PLUGIN)
      set_property(GLOBAL APPEND PROPERTY HUMMER_ENGINE_ARCHIVES hummer_${name})
    endif()
  else()
    add_library(hummer_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(HUMMER_FUZZ AND sources AND fuzzers)
    # Coverage for the fuzzers, in what they fuzz and nowhere else: tests link the same libraries.
    target_compile_options(hummer_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(sources)
    hummer_sections(hummer_${name})
  endif()
  if(MODULE_FOR_SIZE)
    target_compile_options(hummer_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  target_include_directories(hummer_${name} ${scope} ${root})
  target_link_libraries(hummer_${name} ${scope} hummer_public ${MODULE_LINK})
  foreach(used ${MODULE_USES})
    target_link_libraries(hummer_${name} ${scope} hummer_${used})
  endforeach()

  set(tests_use ${MODULE_TESTS_USE})
  list(TRANSFORM tests_use PREPEND hummer_)
  set(threaded ${MODULE_BUT})
  list(TRANSFORM threaded PREPEND ${dir}/)
  list(REMOVE_ITEM tests ${threaded})
  if(HUMMER_TESTS AND tests AND NOT (MODULE_SINGLE_THREADED_TESTS AND HUMMER_SANITIZE STREQUAL "thread"))
    if(MODULE_SINGLE_THREADED_TESTS AND NOT HUMMER_SANITIZE)
      list(APPEND tests ${PROJECT_SOURCE_DIR}/tests/no_threads.cpp)
    endif()
    hummer_module_tests(hummer_${name}_tests ${name} "${tests_use}" ${tests})
  endif()
  if(HUMMER_TESTS AND threaded)
    hummer_module_tests(hummer_${name}_threaded_tests ${name} "${tests_use}" ${threaded})
  endif()
  if(HUMMER_BENCH)
    foreach(bench ${benches})
      get_filename_component(x ${bench} NAME_WE)
      add_executable(hummer_${name}_${x} ${bench})
      target_link_libraries(hummer_${name}_${x} PRIVATE hummer_${name} ${tests_use})
      file(STRINGS ${bench} short_form REGEX HUMMER_SHORT LIMIT_COUNT 1)
      if(HUMMER_TESTS AND short_form)
        add_test(NAME hummer_${name}_${x} COMMAND hummer_${name}_${x})
        set_tests_properties(hummer_${name}_${x} PROPERTIES ENVIRONMENT HUMMER_SHORT=1 TIMEOUT 300)
      endif()
    endforeach()
  endif()
  if(HUMMER_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(x ${fuzzer} NAME_WE)
      string(REGEX REPLACE "_fuzz$" "" x ${x})
      hummer_add_fuzzer(${x} ${fuzzer} hummer_${name} ${tests_use})
    endforeach()
  endif()
endfunction()
