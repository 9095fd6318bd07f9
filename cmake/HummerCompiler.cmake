# Compiler flags that every target shares. The engine targets x86-64-v2 and
# dispatches to v3/v4 at run time where it pays (see src/operators/split_words.cpp).
#
# A project that has this one inside (add_subdirectory, FetchContent) keeps its own: build type, what
# that means, warnings and compiler launcher are its choice, and everything here holds below this
# folder only. What the ABI needs goes to jobs by hummer_public (HummerAbi.cmake).
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
  endif()
  set(CMAKE_CXX_FLAGS_RELEASE "-O3")
  if(HUMMER_SANITIZE)
    set(CMAKE_CXX_FLAGS_DEBUG "-O2 -g1")
  else()
    set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
  endif()
else()
  # Others link jobs to the engine from folders that know nothing of its libraries.
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
endif()
if(PROJECT_IS_TOP_LEVEL)
  add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror=return-type)
endif()
add_compile_options(-fno-omit-frame-pointer)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in every `"literal" + std::string` (its bug 105651).
  add_compile_options(-Wno-restrict)
endif()
# Assertions (HUMMER_ASSERT) are for our own mistakes and stay on in release: nothing reads NDEBUG.

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Text views into temporaries are found (hummer/detail/operators/view_check.hpp); the whole program alike.
  add_compile_definitions(HUMMER_CHECK_VIEWS=)
endif()

if(HUMMER_SANITIZE)
  add_compile_options(-fsanitize=${HUMMER_SANITIZE} -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${HUMMER_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Each of these presets links some forty programs of 100 MB and more.
    get_filename_component(compiler_folder ${CMAKE_CXX_COMPILER} REALPATH)
    get_filename_component(compiler_folder ${compiler_folder} DIRECTORY)
    if(EXISTS ${compiler_folder}/ld.lld)
      add_link_options(-fuse-ld=lld)
    endif()
    # Clang 14 can't compile coroutines with it ("Cannot represent a difference across sections").
    add_compile_options(-fno-sanitize=function)
    # GCC says by itself which sanitizer it compiles for.
    if(HUMMER_SANITIZE MATCHES "thread")
      add_compile_definitions(__SANITIZE_THREAD__)
    endif()
  endif()
endif()

# ccache, when present. Paths below the source tree are made relative first, so that every clone,
# worktree and scratch copy of the repository shares one cache.
find_program(CCACHE_PROGRAM ccache)
if(PROJECT_IS_TOP_LEVEL AND CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

# A static program takes with it what it calls of such a library, and not all that lies in one file.
function(hummer_sections target)
  target_compile_options(${target} PRIVATE
                         $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)
endfunction()
