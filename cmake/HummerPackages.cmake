# The Debian packages, from this build tree: `cpack --config build/release/CPackConfig.cmake -B FOLDER`
# behind `cmake --build`.
#
#   hummer         the program, what it loads to look at JSON lines, its two services
#                  (packaging/systemd/), /etc/hummer/hummer.toml
#   libhummer-dev  what jobs are compiled and linked with
#   hummer-kafka   the Kafka connector, for jobs that use it, and what the program loads to look at
#                  topics; with HUMMER_KAFKA
#   hummer-s3      object stores: what the program loads for s3:// paths, and the client; with HUMMER_S3
#   hummer-rdma    RDMA: what the program loads for it; with HUMMER_RDMA
#   hummer-hadoop  the plug-in for Hadoop as a jar; with HUMMER_HADOOP, where integrations/hadoop/package
#                  has packed it
#
# The services' files have absolute paths and are a component of their own, `services`, which
# `cmake --install` leaves out.
set(packaging ${PROJECT_SOURCE_DIR}/packaging)
install(FILES ${packaging}/systemd/hummer-jobmanager.service ${packaging}/systemd/hummer-taskmanager.service
        DESTINATION /lib/systemd/system COMPONENT services EXCLUDE_FROM_ALL)
install(FILES ${packaging}/hummer.toml DESTINATION /etc/hummer COMPONENT services EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hummer RENAME copyright
        COMPONENT services EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libhummer-dev
        RENAME copyright COMPONENT package_notice EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hummer)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Hummer authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime services development package_notice)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_RUNTIME_GROUP program)
set(CPACK_COMPONENT_SERVICES_GROUP program)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development_files)
set(CPACK_COMPONENT_PACKAGE_NOTICE_GROUP development_files)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME hummer)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "native stream engine: program and services
Runs jobs over unbounded and bounded data, embedded or on a cluster of one
JobManager and any number of TaskManagers. Both are services, which are
installed, but neither enabled nor started.")
# adduser: the scripts make the services' user.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS adduser)
# It is looked for at run time, and gzip is read by it where it is there.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS libisal2)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libhummer-dev (= ${PROJECT_VERSION})")
find_program(HUMMER_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(HUMMER_SHLIBDEPS)
if(HUMMER_SHLIBDEPS)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
else()
  # What every program in C++ needs; the versions are then the builder's care.
  string(APPEND CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ", libc6, libgcc-s1, libstdc++6")
endif()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  ${packaging}/debian/postinst ${packaging}/debian/prerm ${packaging}/debian/postrm
  ${packaging}/debian/conffiles)

set(CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_NAME libhummer-dev)
set(CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_FILES_DESCRIPTION "native stream engine: what jobs are built with
Headers, the engine as an archive, and what CMake and pkg-config need to find
them. `hummer new NAME` writes a project that begins with them.")
# One string: of two, CMake would make a list, with a semicolon in it.
string(CONCAT CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_DEPENDS
  "libboost1.81-dev | libboost-dev (>= 1.75), liblz4-dev, libprotobuf-dev, libsnappy-dev, libsqlite3-dev"
  ", libzstd-dev, zlib1g-dev")
if(HUMMER_TLS)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_DEPENDS ", libssl-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_RECOMMENDS
  "hummer (= ${PROJECT_VERSION}), cmake, make | ninja-build, g++, libgtest-dev")
foreach(package simdjson=libsimdjson-dev curl=libcurl4-openssl-dev)
  string(REPLACE "=" ";" package ${package})
  list(GET package 0 library)
  list(GET package 1 package)
  if(library IN_LIST HUMMER_FORMATS_LIBRARIES)
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_RECOMMENDS ", ${package}")
  endif()
endforeach()
if(HUMMER_HAS_PATTERNS)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_RECOMMENDS ", libre2-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_FILES_PACKAGE_SUGGESTS pkg-config)
if(HUMMER_KAFKA)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hummer-kafka
          RENAME copyright COMPONENT kafka EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL kafka)
  set(CPACK_COMPONENT_KAFKA_GROUP kafka)
  set(CPACK_DEBIAN_KAFKA_PACKAGE_NAME hummer-kafka)
  set(CPACK_DEBIAN_KAFKA_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_KAFKA_DESCRIPTION "native stream engine: the Kafka connector
Headers and archive of sources and sinks for Apache Kafka, and what the program
hummer loads to look at topics. Machines that run jobs built with it need
librdkafka1.")
  set(CPACK_DEBIAN_KAFKA_PACKAGE_DEPENDS
    "libhummer-dev (= ${PROJECT_VERSION}), librdkafka-dev (>= 2.0), libssl-dev (>= 3.0)")
endif()
if(HUMMER_S3)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hummer-s3
          RENAME copyright COMPONENT s3 EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL s3)
  set(CPACK_COMPONENT_S3_GROUP s3)
  set(CPACK_DEBIAN_S3_PACKAGE_NAME hummer-s3)
  set(CPACK_DEBIAN_S3_PACKAGE_SECTION net)
  set(CPACK_DEBIAN_S3_DESCRIPTION "native stream engine: object stores
The library with which the program keeps checkpoints in object stores that speak
S3, and header and archive of its client.")
  set(CPACK_DEBIAN_S3_PACKAGE_DEPENDS "libcurl4")
  set(CPACK_DEBIAN_S3_PACKAGE_RECOMMENDS "hummer (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_S3_PACKAGE_SUGGESTS
    "libhummer-dev (= ${PROJECT_VERSION}), libcurl4-openssl-dev")
endif()
if(HUMMER_RDMA)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hummer-rdma
          RENAME copyright COMPONENT rdma EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL rdma)
  set(CPACK_COMPONENT_RDMA_GROUP rdma)
  set(CPACK_DEBIAN_RDMA_PACKAGE_NAME hummer-rdma)
  set(CPACK_DEBIAN_RDMA_PACKAGE_SECTION net)
  set(CPACK_DEBIAN_RDMA_DESCRIPTION "native stream engine: RDMA
The library with which the program writes into the memory of other machines, by
InfiniBand, RoCE or EFA.")
  set(CPACK_DEBIAN_RDMA_PACKAGE_DEPENDS "libfabric1 (>= 1.17)")
  set(CPACK_DEBIAN_RDMA_PACKAGE_RECOMMENDS
    "hummer (= ${PROJECT_VERSION}), ibverbs-providers, rdma-core")
endif()
if(HUMMER_HADOOP)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hummer-hadoop
          RENAME copyright COMPONENT hadoop_notice EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL hadoop hadoop_notice)
  set(CPACK_COMPONENT_HADOOP_GROUP hadoop)
  set(CPACK_COMPONENT_HADOOP_NOTICE_GROUP hadoop)
  set(CPACK_DEBIAN_HADOOP_PACKAGE_NAME hummer-hadoop)
  set(CPACK_DEBIAN_HADOOP_PACKAGE_SECTION java)
  set(CPACK_DEBIAN_HADOOP_DESCRIPTION "native stream engine: the plug-in for Hadoop
The jar with which tasks of Apache Hadoop MapReduce collect, sort, merge and run
mappers and reducers natively.")
  # The library is inside the jar, where dpkg-shlibdeps does not see it.
  set(CPACK_DEBIAN_HADOOP_PACKAGE_DEPENDS "libc6, libgcc-s1, libstdc++6")
  set(CPACK_DEBIAN_HADOOP_PACKAGE_SUGGESTS "libhummer-dev (= ${PROJECT_VERSION})")
  # Whether there is a jar is known when packages are made.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/install/packages.cmake @ONLY CONTENT [[
if(NOT EXISTS "@HUMMER_HADOOP_JAR@")
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL hadoop hadoop_notice)
endif()
]])
  set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/install/packages.cmake)
endif()
include(CPack)
