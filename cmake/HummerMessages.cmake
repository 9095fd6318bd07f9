# hummer_messages(<file.proto>)
#
# Makes the library `hummer_messages` of the messages in src/<module>/<x>.proto; their header is
# included as "<module>/<x>.pb.h".
# Generated code is not held to the project's warnings.
function(hummer_messages proto)
  set(root ${PROJECT_BINARY_DIR}/protocol)
  file(MAKE_DIRECTORY ${root})
  string(REGEX REPLACE "^src/(.*)\\.proto$" "\\1" x ${proto})
  add_custom_command(
    OUTPUT ${root}/${x}.pb.cc ${root}/${x}.pb.h
    COMMAND protobuf::protoc --cpp_out ${root} -I ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/${proto}
    DEPENDS ${PROJECT_SOURCE_DIR}/${proto}
    COMMENT "Messages of ${proto}")
  add_library(hummer_messages STATIC ${root}/${x}.pb.cc ${root}/${x}.pb.h)
  target_include_directories(hummer_messages SYSTEM PUBLIC ${root})
  target_compile_options(hummer_messages PRIVATE -w $<$<CONFIG:Release>:-Os>)
  hummer_sections(hummer_messages)
  target_link_libraries(hummer_messages PUBLIC protobuf::libprotobuf-lite)
  set_property(GLOBAL APPEND PROPERTY HUMMER_OTHER_ARCHIVES hummer_messages)
endfunction()
