# hummer_program(<name> <source>)
#
# A program that loads job libraries: it has the whole engine inside and exports it, so that a library,
# which has none of it, finds all that the public headers declare.
#
# hummer_add_job(<name> <file> [STATIC_PIE])
#
# Makes of a file with HUMMER_JOB(function)
#   <name>          the program: the job with the whole engine inside
#   <name>_library  the library <name>.job.so, for `hummer run` and for clusters; with its ABI text
#   <name>_static   with STATIC_PIE: the program with everything linked statically, libc too
#
# Under a sanitizer <name> alone is made with everything else, and <name>_library when it is asked for by
# name (bench/acceptance/engine/07-sanitizers does): a static program can't have a sanitizer.
set(HUMMER_JOB_FORMS ON)
if(HUMMER_SANITIZE)
  set(HUMMER_JOB_FORMS OFF)
endif()

get_filename_component(hummer_job_folder ${CMAKE_CURRENT_LIST_FILE} DIRECTORY)
set(HUMMER_EXPORTS ${hummer_job_folder}/hummer_exports.list)
set(HUMMER_JOB_EXPORTS ${hummer_job_folder}/hummer_job.map)
# What the linker adds to its own script for a static job.
set(HUMMER_STATIC_SCRIPT ${hummer_job_folder}/static_job.ld)

function(hummer_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE hummer_engine)
  # The engine's modules whole, not only what this program itself refers to.
  set(whole WHOLE_ARCHIVE)
  get_property(modules GLOBAL PROPERTY HUMMER_MODULES)
  foreach(module ${modules})
    get_target_property(kind hummer_${module} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      string(APPEND whole ",hummer_${module}")
    endif()
  endforeach()
  set_property(TARGET ${name} PROPERTY LINK_LIBRARY_OVERRIDE ${whole})
  target_link_options(${name} PRIVATE -Wl,--dynamic-list=${HUMMER_EXPORTS})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${HUMMER_EXPORTS})
endfunction()

# The library alone.
function(hummer_add_job_library name file)
  add_library(${name} MODULE ${file})
  target_link_libraries(${name} PRIVATE hummer_public)
  # One version must never use a function of the other: its own symbols are bound at link time and
  # hidden by the version script, but for hummer_job; -fno-gnu-unique: nor are its static variables
  # shared behind that. The headers' declarations keep default visibility, being the engine's.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
                         -fno-semantic-interposition -fvisibility-inlines-hidden)
  target_compile_definitions(${name} PRIVATE HUMMER_JOB_LIBRARY)
  target_link_options(${name} PRIVATE -Wl,--version-script=${HUMMER_JOB_EXPORTS})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so LINK_DEPENDS ${HUMMER_JOB_EXPORTS})
endfunction()

# Adds the ABI text of this build.
function(hummer_add_abi library)
  target_compile_options(${library} PRIVATE "SHELL:-include ${HUMMER_ABI_HEADER}")
  add_dependencies(${library} hummer_abi)
endfunction()

function(hummer_add_job name file)
  cmake_parse_arguments(JOB "STATIC_PIE" "" "" ${ARGN})
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE hummer_engine)

  hummer_add_job_library(${name}_library ${file})
  hummer_add_abi(${name}_library)
  set_target_properties(${name}_library PROPERTIES OUTPUT_NAME ${name}.job)
  if(NOT HUMMER_JOB_FORMS)
    set_target_properties(${name}_library PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()

  if(JOB_STATIC_PIE)
    add_executable(${name}_static ${file})
    target_link_libraries(${name}_static PRIVATE hummer_engine)
    # What nothing refers to stays out, relocations are packed, and libraries in C have no unwind
    # tables: half of it is other people's code.
    target_link_options(${name}_static PRIVATE -static-pie -Wl,--gc-sections
                        -Wl,-z,pack-relative-relocs -Wl,-T,${HUMMER_STATIC_SCRIPT})
    set_target_properties(${name}_static PROPERTIES LINK_DEPENDS ${HUMMER_STATIC_SCRIPT})
  endif()
endfunction()
