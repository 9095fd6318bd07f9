# The target `layering`: reads every source and fails the build when one breaks the order of the
# modules or another rule of scripts/check-layering. Part of `all`; runs again when a source changed.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(layering_sources "")
foreach(folder include src connectors integrations formats batch examples bench tests)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${folder}/*.hpp ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(APPEND layering_sources ${found})
endforeach()

set(layering_stamp ${PROJECT_BINARY_DIR}/layering.stamp)
add_custom_command(
  OUTPUT ${layering_stamp}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/check-layering --quiet
  COMMAND ${CMAKE_COMMAND} -E touch ${layering_stamp}
  DEPENDS ${layering_sources} ${PROJECT_SOURCE_DIR}/scripts/check-layering
          ${PROJECT_SOURCE_DIR}/CMakeLists.txt
  COMMENT "Checking the order of the modules"
  VERBATIM)
add_custom_target(layering ALL DEPENDS ${layering_stamp})
