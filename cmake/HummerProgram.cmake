# hummer_program(<name> <source>)
#
# A program that loads job libraries: it has the whole engine inside and exports it, so that a library,
# which has none of it, finds all that the public headers declare. For this repository; jobs are made by
# hummer_add_job.
#
# hummer_engine_for_jobs(<target>)
#
# Makes what jobs link: the public headers and the engine, whose own headers stay in here.
#
# The engine's archives are in two global properties, which each of them is added to where it is made:
# HUMMER_ENGINE_ARCHIVES (whole in such a program) and HUMMER_OTHER_ARCHIVES (what they refer to).
set(HUMMER_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/hummer_exports.list)

function(hummer_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE hummer_engine)
  # The engine's modules whole, not only what this program itself refers to.
  get_property(archives GLOBAL PROPERTY HUMMER_ENGINE_ARCHIVES)
  list(JOIN archives "," archives)
  set_property(TARGET ${name} PROPERTY LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${archives}")
  target_link_options(${name} PRIVATE -Wl,--dynamic-list=${HUMMER_EXPORTS})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${HUMMER_EXPORTS})
endfunction()

function(hummer_engine_for_jobs target)
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE hummer_public $<LINK_ONLY:hummer_cli>)
  # A project's tests may need what jobs do not, and nothing above refers to. The first build of this
  # repository does without.
  if(NOT PROJECT_IS_TOP_LEVEL)
    get_property(archives GLOBAL PROPERTY HUMMER_ENGINE_ARCHIVES)
    foreach(archive ${archives})
      target_link_libraries(${target} INTERFACE $<LINK_ONLY:${archive}>)
    endforeach()
  endif()
endfunction()
