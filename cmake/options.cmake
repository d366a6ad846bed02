# SPDX-License-Identifier: BSD-3-Clause
# The switches of the build. Each AUTO is resolved in backends.cmake or dependencies.cmake.

set(QUADRAT_CUDA "AUTO" CACHE STRING "CUDA backend: AUTO (when nvcc is found), ON (required) or OFF")
set(QUADRAT_MPI "AUTO" CACHE STRING "Ranks that are processes: AUTO (top-level project and MPI found), ON (required) or OFF")
set(QUADRAT_PROGRAM "AUTO" CACHE STRING "The program: AUTO (top-level project and its dependencies found), ON or OFF")
set(QUADRAT_TESTS "AUTO" CACHE STRING "The tests: AUTO (top-level project and GoogleTest found), ON or OFF")
set(QUADRAT_PYTHON "AUTO" CACHE STRING "The Python package: AUTO (with the tests, when nanobind is found), ON or OFF")
foreach(switch IN ITEMS QUADRAT_CUDA QUADRAT_MPI QUADRAT_PROGRAM QUADRAT_TESTS QUADRAT_PYTHON)
  set_property(CACHE ${switch} PROPERTY STRINGS AUTO ON OFF)
endforeach()

if(PROJECT_IS_TOP_LEVEL) # this switch would affect a whole enclosing project
  option(BUILD_SHARED_LIBS "Build the library as a shared one" OFF)
endif()
option(QUADRAT_INSTALL "Install the library, its headers and the program" ${PROJECT_IS_TOP_LEVEL})
option(QUADRAT_WERROR "Warnings are errors" OFF)
option(QUADRAT_BENCHMARKS "quadrat bench in the program; the tests want it in any case" ON)
option(QUADRAT_UNITY "Compile the sources of a module in batches: faster from scratch, slower after a change" ON)
option(QUADRAT_LARGE_BATCHES "Batches of twice as many sources: faster where little is optimized" OFF)
option(QUADRAT_NATIVE "Compile for the CPU of this machine (-march=native); the binaries may not run on another" OFF)
option(QUADRAT_CUDA_FAST_COMPILE "Compile device code fast, not to be fast: for machines that only look whether it compiles" OFF)
set(QUADRAT_SANITIZE "" CACHE STRING "Host sanitizers, as in -fsanitize=: 'address,undefined' or 'thread'")
option(QUADRAT_FUZZ "Build the fuzz targets with libFuzzer (clang)" OFF)
set(QUADRAT_EXTRA_INCLUDE "" CACHE PATH "A folder with header-only dependencies that the system does not have")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
endif()

# Python modules and other shared libraries may link the static library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
