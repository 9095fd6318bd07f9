# hummer_add_plugin(<target> <output> MAP <file> SOURCE <file> LINK <target>... [INCLUDE <folder>...])
#
# Makes lib<output>.so, a library that the program loads (src/platform/plugins.hpp), beside the program,
# where it is found. It has all inside that it needs of the engine, and shows the one symbol that MAP
# names: so it serves programs that export nothing, and neither sees the other's functions.
function(hummer_add_plugin target output)
  cmake_parse_arguments(PLUGIN "" "MAP;SOURCE" "LINK;INCLUDE" ${ARGN})
  set(map ${PROJECT_SOURCE_DIR}/cmake/${PLUGIN_MAP})
  add_library(${target} MODULE ${PLUGIN_SOURCE})
  target_include_directories(${target} PRIVATE ${PLUGIN_INCLUDE} ${PROJECT_BINARY_DIR}/modules/platform)
  target_link_libraries(${target} PRIVATE ${PLUGIN_LINK} hummer_base)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} LINK_DEPENDS ${map}
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  hummer_add_abi(${target})
endfunction()
