# cmake -D FOLDER=... -D OUTPUT=header -P write_project_files.cmake
# Writes the files *.in of FOLDER as constants; see HummerNewProject.cmake. `dot_x.in` is the file `.x`.
file(GLOB files ${FOLDER}/*.in)
list(SORT files)
set(rows "")
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "\\.in$" "" name ${name})
  string(REGEX REPLACE "^dot_" "." name ${name})
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"~~~~(${text})~~~~\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#pragma once
#include <string_view>

struct EmbeddedProjectFile {
  std::string_view name;
  std::string_view text;
};
inline constexpr EmbeddedProjectFile embedded_project_files[] = {
${rows}};
")
