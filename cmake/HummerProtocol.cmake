# hummer_protocol(<file.proto>)
#
# Makes the library `hummer_protocol` of the messages in src/<room>/<x>.proto; their header is
# included as "<room>/<x>.pb.h".
# Generated code is not held to the project's warnings.
function(hummer_protocol proto)
  set(root ${PROJECT_BINARY_DIR}/protocol)
  file(MAKE_DIRECTORY ${root})
  string(REGEX REPLACE "^src/(.*)\\.proto$" "\\1" x ${proto})
  add_custom_command(
    OUTPUT ${root}/${x}.pb.cc ${root}/${x}.pb.h
    COMMAND protobuf::protoc --cpp_out ${root} -I ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/${proto}
    DEPENDS ${PROJECT_SOURCE_DIR}/${proto}
    COMMENT "Messages of ${proto}")
  add_library(hummer_protocol STATIC ${root}/${x}.pb.cc ${root}/${x}.pb.h)
  target_include_directories(hummer_protocol SYSTEM PUBLIC ${root})
  target_compile_options(hummer_protocol PRIVATE -w $<$<CONFIG:Release>:-Os>)
  target_link_libraries(hummer_protocol PUBLIC protobuf::libprotobuf-lite)
  set_property(GLOBAL APPEND PROPERTY HUMMER_OTHER_ARCHIVES hummer_protocol)
endfunction()
