# Installs JAR below the prefix in DESTINATION, with a link beside it that has no version in its name, as
# Debian has jars in share/java; for install(CODE). integrations/hadoop/package makes it, not CMake: where it
# has not there is none, and one with an older LIBRARY inside than the build's is left out, too.
if(NOT EXISTS ${JAR})
  message(STATUS "Without the plug-in for Hadoop: integrations/hadoop/package packs it")
elseif(${LIBRARY} IS_NEWER_THAN ${JAR})
  message(WARNING "Without the plug-in for Hadoop: ${JAR} is older than ${LIBRARY}, "
          "integrations/hadoop/package packs it anew")
else()
  get_filename_component(folder ${JAR} DIRECTORY)
  get_filename_component(name ${JAR} NAME)
  file(CREATE_LINK ${name} ${folder}/hummer-hadoop.jar SYMBOLIC)
  file(INSTALL ${JAR} ${folder}/hummer-hadoop.jar DESTINATION ${CMAKE_INSTALL_PREFIX}/${DESTINATION})
endif()
