# hummer_unity(<out> <target> <source>...)
#
# Sets <out> to what <target> is compiled from. With HUMMER_UNITY_BUILD these are files that include
# up to eight sources of one folder each: most of what a source takes is what its headers take, so a
# build from nothing takes less than half (docs/build_times.md). Otherwise, and for sources with
# macros, flags or dependencies of their own, they are the sources themselves.
#
# Such a file lies in the build tree under units/<target>/ and names its sources by relative paths,
# so that its bytes, and with them what ccache finds, are the same in every clone.
#
# What the sources of a folder have in their anonymous namespaces must therefore differ in name. A
# test has its names in a namespace of its own: hummer::<x>_test in <x>_test.cpp. A header that is
# missing is found where each source is compiled by itself: by scripts/check-includes.
set(HUMMER_UNITY_SOURCES 8)

function(hummer_unity out target)
  if(NOT HUMMER_UNITY_BUILD)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(compiled)
  set(folders)
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    # A macro would reach what is included behind it.
    file(STRINGS ${source} alone REGEX "^#define " LIMIT_COUNT 1)
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS OBJECT_DEPENDS HEADER_FILE_ONLY)
      get_source_file_property(value ${source} ${property})
      if(value)
        set(alone TRUE)
      endif()
    endforeach()
    if(alone)
      list(APPEND compiled ${source})
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" folder ${folder})
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} ${source})
  endforeach()

  list(REMOVE_DUPLICATES folders)
  set(units ${PROJECT_BINARY_DIR}/units/${target})
  foreach(folder ${folders})
    list(LENGTH sources_of_${folder} all)
    math(EXPR last "(${all} + ${HUMMER_UNITY_SOURCES} - 1) / ${HUMMER_UNITY_SOURCES} - 1")
    foreach(number RANGE ${last})
      # As equal as may be.
      math(EXPR first "${all} * ${number} / (${last} + 1)")
      math(EXPR count "${all} * (${number} + 1) / (${last} + 1) - ${first}")
      list(SUBLIST sources_of_${folder} ${first} ${count} together)
      set(text "")
      foreach(source ${together})
        file(RELATIVE_PATH path ${units} ${source})
        string(APPEND text "#include \"${path}\"\n")
      endforeach()
      set(unit ${units}/${folder}_${number}.cpp)
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Of types in anonymous namespaces: what is included here is no header.
        set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS -Wno-subobject-linkage)
      endif()
      list(APPEND compiled ${unit})
    endforeach()
  endforeach()
  set(${out} ${compiled} PARENT_SCOPE)
endfunction()
