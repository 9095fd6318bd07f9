# The files of `hummer new` (src/cli/new_project/template/) become one header of the build tree, which
# src/cli/new_project/project_files.cpp is compiled with: the program needs no files beside it.
set(new_project_folder ${PROJECT_SOURCE_DIR}/src/cli/new_project)
set(new_project_header ${PROJECT_BINARY_DIR}/new_project/embedded_project_files.hpp)
file(GLOB new_project_files CONFIGURE_DEPENDS ${new_project_folder}/template/*.in)
add_custom_command(
  OUTPUT ${new_project_header}
  COMMAND ${CMAKE_COMMAND} -D FOLDER=${new_project_folder}/template -D OUTPUT=${new_project_header}
          -P ${PROJECT_SOURCE_DIR}/cmake/write_project_files.cmake
  DEPENDS ${new_project_files} ${PROJECT_SOURCE_DIR}/cmake/write_project_files.cmake
  COMMENT "Files of hummer new"
  VERBATIM)
set_source_files_properties(${new_project_folder}/project_files.cpp PROPERTIES
  COMPILE_OPTIONS "-include;${new_project_header}" OBJECT_DEPENDS ${new_project_header})
