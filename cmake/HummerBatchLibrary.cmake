# hummer_add_batch_library(<name> <file>...)
#
# Makes <name>.so of files with one HUMMER_BATCH_LIBRARY (hummer/batch/class_library.hpp): mappers,
# reducers and the like for `hummer batch run --library`. It carries the ABI text of the engine's headers
# and of those of hummer::batch, and the compiler's; what it needs of the engine it finds in the program
# that loads it.
include(${CMAKE_CURRENT_LIST_DIR}/HummerJob.cmake)

function(hummer_add_batch_library name)
  if(NOT ARGN)
    message(FATAL_ERROR "hummer_add_batch_library(${name}): it takes a name and the files of the library")
  endif()
  set(exports ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/hummer_batch_library.map)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE hummer::batch)
  # As of job libraries (HummerJob.cmake): its own symbols are its own.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
                         -fno-semantic-interposition -fvisibility-inlines-hidden)
  target_link_options(${name} PRIVATE -Wl,--version-script=${exports})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX .so LINK_DEPENDS ${exports}
                        CXX_STANDARD 20 CXX_EXTENSIONS OFF)
  hummer_add_abi(${name})
  get_property(header GLOBAL PROPERTY HUMMER_BATCH_ABI_HEADER)
  target_compile_options(${name} PRIVATE "SHELL:-include \"${header}\"")
  if(TARGET hummer_batch_abi)
    add_dependencies(${name} hummer_batch_abi)
  endif()
endfunction()
