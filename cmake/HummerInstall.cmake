# What `cmake --install` and packages have.
#
# Two components: `runtime`, the program; `development`, the headers, the whole engine as one archive, and
# what CMake and pkg-config need to find it. Each connector that is built is one more: `kafka`, `s3`; and
# `rdma`, and `hadoop`, the plug-in for it. Files below the prefix refer to each other by relative paths, so the prefix may be moved, or chosen by
# `cmake --install --prefix`. Packages: HummerPackages.cmake.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(install_modules ${CMAKE_INSTALL_LIBDIR}/cmake/hummer)
install(TARGETS hummer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hummer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN *.hpp)
get_property(install_abi_header GLOBAL PROPERTY HUMMER_ABI_HEADER)
install(FILES ${install_abi_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hummer COMPONENT development)

# The engine's archives and those of generated code are one to others: who links it need not know its parts.
get_property(install_archives GLOBAL PROPERTY HUMMER_ENGINE_ARCHIVES)
get_property(install_others GLOBAL PROPERTY HUMMER_OTHER_ARCHIVES)
# Whoever has built the program may install all of it.
add_dependencies(hummer ${install_archives} ${install_others})
set(install_files "")
foreach(archive ${install_archives} ${install_others})
  list(APPEND install_files "$<TARGET_FILE:${archive}>")
endforeach()
set(install_archive ${PROJECT_BINARY_DIR}/install/libhummer.a)
install(CODE "
set(ARCHIVER [[${CMAKE_AR}]])
set(OUTPUT [[${install_archive}]])
set(ARCHIVES \"${install_files}\")
include([[${PROJECT_SOURCE_DIR}/cmake/merge_archives.cmake]])
" COMPONENT development)
install(FILES ${install_archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# Beside the engine, an archive of its own.
set(HUMMER_HAS_FORMATS OFF)
if(NOT TARGET hummer_formats)
  set(HUMMER_HAS_PATTERNS OFF)
endif()
# The libraries with which they are, as CMake looks for them.
set(HUMMER_FORMATS_LIBRARIES "")
if(TARGET hummer_formats)
  set(HUMMER_HAS_FORMATS ON)
  if(simdjson_FOUND)
    list(APPEND HUMMER_FORMATS_LIBRARIES simdjson)
  endif()
  if(HUMMER_HAS_PATTERNS)
    # An archive is found by its name on the machine that builds the job.
    get_filename_component(HUMMER_NAME_re2 ${HUMMER_ARCHIVE_re2} NAME)
  endif()
  if(HUMMER_HAS_REGISTRY)
    list(APPEND HUMMER_FORMATS_LIBRARIES curl)
  endif()
  list(APPEND HUMMER_FORMATS_LIBRARIES snappy zstd z)
  add_dependencies(hummer hummer_formats)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/formats/include/hummer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          COMPONENT development FILES_MATCHING PATTERN *.hpp)
  install(FILES $<TARGET_FILE:hummer_formats> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  if(TARGET hummer_json_plugin)
    # What the program finds by itself, from beside it.
    install(TARGETS hummer_json_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hummer
            COMPONENT runtime)
  endif()
endif()

# The headers of MapReduce, and what builds class libraries; the runner is in the program.
set(HUMMER_HAS_BATCH OFF)
if(HUMMER_BATCH)
  set(HUMMER_HAS_BATCH ON)
  get_property(install_batch_abi_header GLOBAL PROPERTY HUMMER_BATCH_ABI_HEADER)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/batch/include/hummer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          COMPONENT development FILES_MATCHING PATTERN *.hpp)
  install(FILES ${install_batch_abi_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hummer
          COMPONENT development)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/HummerBatchLibrary.cmake
          ${PROJECT_SOURCE_DIR}/cmake/hummer_batch_library.map
          DESTINATION ${install_modules} COMPONENT development)
endif()

# What to link beside it, as CMake looks for it and as pkg-config says it: the archives of others, where
# this build had archives.
get_property(install_libraries GLOBAL PROPERTY HUMMER_SYSTEM_LIBRARIES)
list(REVERSE install_libraries)
set(HUMMER_LIBRARY_NAMES "")
set(HUMMER_PKG_CONFIG_LIBRARIES "")
foreach(library ${install_libraries})
  string(REGEX REPLACE "=.*" "" name ${library})
  list(APPEND HUMMER_LIBRARY_NAMES ${name})
  if(library MATCHES "\\.a$")
    string(APPEND HUMMER_PKG_CONFIG_LIBRARIES " -l:lib${name}.a")
  else()
    string(APPEND HUMMER_PKG_CONFIG_LIBRARIES " -l${name}")
  endif()
endforeach()
string(APPEND HUMMER_PKG_CONFIG_LIBRARIES " -pthread -ldl -lm")
get_property(HUMMER_FLAGS GLOBAL PROPERTY HUMMER_ABI_FLAGS)
get_property(HUMMER_COMPILER GLOBAL PROPERTY HUMMER_ABI_COMPILER)
list(JOIN HUMMER_FLAGS " " HUMMER_PKG_CONFIG_FLAGS)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hummerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/install/hummerConfig.cmake
  INSTALL_DESTINATION ${install_modules} NO_CHECK_REQUIRED_COMPONENTS_MACRO
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may break what was.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/hummerConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/install/hummerConfig.cmake
  ${PROJECT_BINARY_DIR}/install/hummerConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/HummerJob.cmake
  ${PROJECT_SOURCE_DIR}/cmake/HummerAbiText.cmake
  ${PROJECT_SOURCE_DIR}/cmake/hummer_job.map
  ${PROJECT_SOURCE_DIR}/cmake/static_job.ld
  DESTINATION ${install_modules} COMPONENT development)

if(HUMMER_KAFKA)
  add_dependencies(hummer hummer_kafka hummer_kafka_plugin)
  # What the program finds by itself, from beside it.
  install(TARGETS hummer_kafka_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hummer COMPONENT kafka)
  install(FILES $<TARGET_FILE:hummer_kafka> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kafka)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/connectors/kafka/include/hummer
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT kafka FILES_MATCHING PATTERN *.hpp)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hummer-kafka.cmake.in
    ${PROJECT_BINARY_DIR}/install/hummer-kafka.cmake
    INSTALL_DESTINATION ${install_modules} NO_CHECK_REQUIRED_COMPONENTS_MACRO
    PATH_VARS CMAKE_INSTALL_LIBDIR)
  install(FILES ${PROJECT_BINARY_DIR}/install/hummer-kafka.cmake DESTINATION ${install_modules}
          COMPONENT kafka)
endif()

if(HUMMER_S3)
  add_dependencies(hummer hummer_s3 hummer_s3_plugin)
  install(FILES $<TARGET_FILE:hummer_s3> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT s3)
  # What the program finds by itself, from beside it.
  install(TARGETS hummer_s3_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hummer COMPONENT s3)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/connectors/s3/include/hummer
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT s3 FILES_MATCHING PATTERN *.hpp)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hummer-s3.cmake.in
    ${PROJECT_BINARY_DIR}/install/hummer-s3.cmake
    INSTALL_DESTINATION ${install_modules} NO_CHECK_REQUIRED_COMPONENTS_MACRO
    PATH_VARS CMAKE_INSTALL_LIBDIR)
  install(FILES ${PROJECT_BINARY_DIR}/install/hummer-s3.cmake DESTINATION ${install_modules}
          COMPONENT s3)
endif()

if(HUMMER_RDMA)
  add_dependencies(hummer hummer_rdma_plugin)
  # What the program finds by itself, from beside it.
  install(TARGETS hummer_rdma_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hummer COMPONENT rdma)
endif()

set(HUMMER_HADOOP_JAR ${PROJECT_BINARY_DIR}/hadoop/maven/hummer-hadoop-${PROJECT_VERSION}.jar)
if(HUMMER_HADOOP)
  install(CODE "
set(JAR [[${HUMMER_HADOOP_JAR}]])
set(LIBRARY [[$<TARGET_FILE:hummer_hadoop>]])
set(DESTINATION [[${CMAKE_INSTALL_DATADIR}/java]])
include([[${PROJECT_SOURCE_DIR}/cmake/install_hadoop_plugin.cmake]])
" COMPONENT hadoop)
endif()

file(RELATIVE_PATH HUMMER_PREFIX_OF_PKG_CONFIG
     /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hummer.pc.in ${PROJECT_BINARY_DIR}/install/hummer.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/install/hummer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(HummerPackages)
endif()
