# hummer_add_job(<name> <file> [STATIC_PIE] [LINK <target>...])
#
# Makes of a file with HUMMER_JOB(function)
#   <name>          the program: the job with the whole engine inside
#   <name>_library  the library <name>.job.so, for `hummer run` and for clusters; with its ABI text
#   <name>_static   with STATIC_PIE: the program with everything linked statically, libc too
#
# LINK: what all of them need beside the engine, such as hummer::formats.
#
# Under a sanitizer <name> alone is made with everything else, and <name>_library when it is asked for by
# name (bench/acceptance/engine/07-sanitizers does): a static program can't have a sanitizer.
#
# The same file serves this repository, projects that have it inside, and those that find an installed
# Hummer: it refers to hummer::engine, hummer::public, the files beside it and global properties only.
include(${CMAKE_CURRENT_LIST_DIR}/HummerAbiText.cmake)

# The library alone.
function(hummer_add_job_library name file)
  set(exports ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/hummer_job.map)
  add_library(${name} MODULE ${file})
  target_link_libraries(${name} PRIVATE hummer::public)
  # One version must never use a function of the other: its own symbols are bound at link time and
  # hidden by the version script, but for hummer_job; -fno-gnu-unique: nor are its static variables
  # shared behind that. The headers' declarations keep default visibility, being the engine's.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
                         -fno-semantic-interposition -fvisibility-inlines-hidden)
  target_compile_definitions(${name} PRIVATE HUMMER_JOB_LIBRARY)
  target_link_options(${name} PRIVATE -Wl,--version-script=${exports})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so LINK_DEPENDS ${exports}
                        CXX_STANDARD 20 CXX_EXTENSIONS OFF)
endfunction()

# Adds the ABI text: the engine's, with the compiler and flags of this directory where they differ. Then
# `hummer` refuses the library, and names both.
function(hummer_add_abi library)
  get_property(header GLOBAL PROPERTY HUMMER_ABI_HEADER)
  target_compile_options(${library} PRIVATE "SHELL:-include \"${header}\"")
  if(TARGET hummer_abi)
    add_dependencies(${library} hummer_abi)
  endif()
  get_property(compiler GLOBAL PROPERTY HUMMER_ABI_COMPILER)
  hummer_abi_compiler(own_compiler)
  if(NOT own_compiler STREQUAL compiler)
    target_compile_definitions(${library} PRIVATE "HUMMER_ABI_COMPILER=\"${own_compiler}\"")
    message(WARNING "${library}: this project's compiler is ${own_compiler}, that of Hummer was ${compiler}: "
            "`hummer` will refuse the library. Set CMAKE_CXX_COMPILER to the same one, or build Hummer "
            "with this one.")
  endif()
  get_property(flags GLOBAL PROPERTY HUMMER_ABI_FLAGS)
  hummer_abi_flags(own_flags)
  if(flags)
    list(REMOVE_ITEM own_flags ${flags})
  endif()
  if(own_flags)
    list(JOIN flags " " flags)
    list(JOIN own_flags " " own_flags)
    target_compile_definitions(${library} PRIVATE
      "HUMMER_ABI_FLAGS=\"-std=c++20 ${flags} ${own_flags}\"")
    message(WARNING "${library}: this project compiles with ${own_flags}, Hummer was compiled without: `hummer` "
            "will refuse the library. Compile jobs without, or Hummer with it (CMAKE_CXX_FLAGS).")
  endif()
endfunction()

function(hummer_add_job name file)
  cmake_parse_arguments(JOB "STATIC_PIE" "" "LINK" ${ARGN})
  if(JOB_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hummer_add_job(${name}): unknown argument ${JOB_UNPARSED_ARGUMENTS}; it takes a "
            "name, one file with HUMMER_JOB, STATIC_PIE, and LINK with targets. Further sources: target_sources(${name} ...) "
            "and target_sources(${name}_library ...)")
  endif()
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE ${JOB_LINK} hummer::engine)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_EXTENSIONS OFF)

  hummer_add_job_library(${name}_library ${file})
  target_link_libraries(${name}_library PRIVATE ${JOB_LINK})
  hummer_add_abi(${name}_library)
  set_target_properties(${name}_library PROPERTIES OUTPUT_NAME ${name}.job)
  get_property(flags GLOBAL PROPERTY HUMMER_ABI_FLAGS)
  if(flags MATCHES "-fsanitize=")
    set_target_properties(${name}_library PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()

  if(JOB_STATIC_PIE)
    # What the linker adds to its own script.
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/static_job.ld)
    add_executable(${name}_static ${file})
    target_link_libraries(${name}_static PRIVATE ${JOB_LINK} hummer::engine)
    # What nothing refers to stays out, relocations are packed, and libraries in C have no unwind
    # tables: half of it is other people's code.
    target_link_options(${name}_static PRIVATE -static-pie -Wl,--gc-sections
                        -Wl,-z,pack-relative-relocs -Wl,-T,${script})
    set_target_properties(${name}_static PROPERTIES LINK_DEPENDS ${script} POSITION_INDEPENDENT_CODE ON
                          CXX_STANDARD 20 CXX_EXTENSIONS OFF)
  endif()
endfunction()
