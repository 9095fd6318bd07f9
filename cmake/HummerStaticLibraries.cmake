# The libraries of others, linked statically wherever there is an archive, so that `hummer` and programs
# with a job inside run on a machine that has none of them. Shared stay libstdc++, libgcc and libc
# (a program that loads job libraries must share these with them; hummer_add_job's STATIC_PIE does
# without).
#
# Each is noted as NAME=FILE in the global property HUMMER_SYSTEM_LIBRARIES, from which HummerInstall.cmake
# tells others what to link beside the engine. They need them in this order, last first: what refers to
# another one comes later here.
foreach(name z zstd lz4 snappy)
  find_library(HUMMER_ARCHIVE_${name} NAMES lib${name}.a ${name} REQUIRED)
  find_path(HUMMER_HEADERS_${name} ${name}lib.h ${name}.h REQUIRED)
  add_library(hummer_${name} INTERFACE)
  target_include_directories(hummer_${name} SYSTEM INTERFACE ${HUMMER_HEADERS_${name}})
  target_link_libraries(hummer_${name} INTERFACE ${HUMMER_ARCHIVE_${name}})
  set_property(GLOBAL APPEND PROPERTY HUMMER_SYSTEM_LIBRARIES ${name}=${HUMMER_ARCHIVE_${name}})
endforeach()

# Reads and writes through the platform's files only (src/job_manager/sqlite_vfs.hpp).
find_library(HUMMER_ARCHIVE_sqlite3 NAMES libsqlite3.a sqlite3 REQUIRED)
find_path(HUMMER_HEADERS_sqlite3 sqlite3.h REQUIRED)
add_library(hummer_sqlite3 INTERFACE)
target_include_directories(hummer_sqlite3 SYSTEM INTERFACE ${HUMMER_HEADERS_sqlite3})
target_link_libraries(hummer_sqlite3 INTERFACE ${HUMMER_ARCHIVE_sqlite3} Threads::Threads
  ${CMAKE_DL_LIBS} m)
set_property(GLOBAL APPEND PROPERTY HUMMER_SYSTEM_LIBRARIES sqlite3=${HUMMER_ARCHIVE_sqlite3})

set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED)
set_property(GLOBAL APPEND PROPERTY HUMMER_SYSTEM_LIBRARIES
  protobuf-lite=${Protobuf_LITE_LIBRARY_RELEASE})

# Debian has fmt as headers and as a shared library only; the archive is made of the headers.
find_package(fmt REQUIRED)
get_target_property(fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
add_library(hummer_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt_library.cpp)
hummer_sections(hummer_fmt)
target_include_directories(hummer_fmt SYSTEM PUBLIC ${fmt_include})
set_property(GLOBAL APPEND PROPERTY HUMMER_OTHER_ARCHIVES hummer_fmt)

# OpenSSL. Without it src/platform/tls_absent.cpp stands in for all other tls_*.cpp.
add_library(hummer_tls INTERFACE)
file(GLOB tls_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/tls_*.cpp
     ${PROJECT_SOURCE_DIR}/src/*/*/tls_*.cpp)
if(HUMMER_TLS)
  set(OPENSSL_USE_STATIC_LIBS ON)
  find_package(OpenSSL 3.0 REQUIRED)
  target_link_libraries(hummer_tls INTERFACE OpenSSL::SSL OpenSSL::Crypto)
  set_property(GLOBAL APPEND PROPERTY HUMMER_SYSTEM_LIBRARIES
    crypto=${OPENSSL_CRYPTO_LIBRARY} ssl=${OPENSSL_SSL_LIBRARY})
  list(FILTER tls_sources INCLUDE REGEX "/tls_absent\\.cpp$")
else()
  list(FILTER tls_sources EXCLUDE REGEX "/tls_absent\\.cpp$")
endif()
set_source_files_properties(${tls_sources} PROPERTIES HEADER_FILE_ONLY ON)
