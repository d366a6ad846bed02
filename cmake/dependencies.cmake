# SPDX-License-Identifier: BSD-3-Clause
# Finds what the program, the Python package and the tests need; the library itself needs none of it. All except libpng
# and GoogleTest are used as plain headers. So they can be copied to a machine that lacks them (QUADRAT_EXTRA_INCLUDE,
# CMAKE_PREFIX_PATH), and the program runs where their shared libraries are missing. Sets QUADRAT_BUILD_PROGRAM,
# QUADRAT_BUILD_PYTHON, QUADRAT_BUILD_TESTS, QUADRAT_BUILD_LAMMPS and, for the summary, *_WHY_NOT.

# Defines quadrat_deps::<name> as a header-only library, or appends <label> to QUADRAT_PROGRAM_MISSING.
function(quadrat_find_headers name label header)
  find_path(QUADRAT_${name}_INCLUDE "${header}" HINTS "${QUADRAT_EXTRA_INCLUDE}" "${QUADRAT_EXTRA_INCLUDE}/include")
  mark_as_advanced(QUADRAT_${name}_INCLUDE)
  if(NOT QUADRAT_${name}_INCLUDE)
    set(QUADRAT_PROGRAM_MISSING ${QUADRAT_PROGRAM_MISSING} ${label} PARENT_SCOPE)
    return()
  endif()
  add_library(quadrat_deps::${name} INTERFACE IMPORTED)
  target_include_directories(quadrat_deps::${name} SYSTEM INTERFACE "${QUADRAT_${name}_INCLUDE}")
  target_compile_definitions(quadrat_deps::${name} INTERFACE ${ARGN})
endfunction()

set(QUADRAT_BUILD_PROGRAM OFF)
set(QUADRAT_PROGRAM_WHY_NOT "")
if(QUADRAT_PROGRAM STREQUAL "ON" OR (QUADRAT_PROGRAM STREQUAL "AUTO" AND PROJECT_IS_TOP_LEVEL))
  set(QUADRAT_PROGRAM_MISSING "")
  quadrat_find_headers(cli11 CLI11 CLI/CLI.hpp)
  quadrat_find_headers(tomlplusplus toml++ toml++/toml.h)
  quadrat_find_headers(nlohmann_json nlohmann-json nlohmann/json.hpp)
  quadrat_find_headers(fmt fmt fmt/format.h FMT_HEADER_ONLY=1)
  find_package(PNG QUIET) # also defines ZLIB::ZLIB
  if(NOT PNG_FOUND)
    list(APPEND QUADRAT_PROGRAM_MISSING libpng)
  endif()
  if(NOT QUADRAT_PROGRAM_MISSING)
    set(QUADRAT_BUILD_PROGRAM ON)
  else()
    list(JOIN QUADRAT_PROGRAM_MISSING ", " missing)
    set(QUADRAT_PROGRAM_WHY_NOT " (missing: ${missing})")
    if(QUADRAT_PROGRAM STREQUAL "ON")
      message(FATAL_ERROR "QUADRAT_PROGRAM is ON, but these are missing: ${missing}; try script/bootstrap")
    endif()
  endif()
endif()

set(QUADRAT_BUILD_TESTS OFF)
set(QUADRAT_TESTS_WHY_NOT "")
if(QUADRAT_TESTS STREQUAL "ON" OR (QUADRAT_TESTS STREQUAL "AUTO" AND PROJECT_IS_TOP_LEVEL))
  find_package(GTest QUIET)
  if(GTest_FOUND)
    set(QUADRAT_BUILD_TESTS ON)
  elseif(QUADRAT_TESTS STREQUAL "ON")
    message(FATAL_ERROR "QUADRAT_TESTS is ON, but GoogleTest was not found; try script/bootstrap")
  else()
    set(QUADRAT_TESTS_WHY_NOT " (missing: GoogleTest)")
  endif()
endif()

if(QUADRAT_BUILD_TESTS AND QUADRAT_BUILD_PROGRAM AND (QUADRAT_ABSENT_MODELS OR QUADRAT_ABSENT_COMMANDS))
  message(FATAL_ERROR "the tests are of all models and commands: leave QUADRAT_MODELS and QUADRAT_COMMANDS out, or add "
                      "-DQUADRAT_TESTS=OFF")
endif()

set(QUADRAT_BUILD_PYTHON OFF)
set(QUADRAT_PYTHON_WHY_NOT "")
# A Python interpreter without sanitizers cannot load a module built with them.
if(QUADRAT_PYTHON STREQUAL "ON" OR (QUADRAT_PYTHON STREQUAL "AUTO" AND QUADRAT_BUILD_TESTS AND NOT QUADRAT_SANITIZE))
  # With the limited API of Python 3.12 and later, one module serves all versions.
  find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
  if(Python_FOUND AND NOT TARGET Python::SABIModule) # CMake before 3.26; outside Windows it is the same
    add_library(Python::SABIModule INTERFACE IMPORTED)
    target_link_libraries(Python::SABIModule INTERFACE Python::Module)
  endif()
  if(Python_FOUND)
    # script/python-packages installs into build/python.
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PROJECT_SOURCE_DIR}/build/python:$ENV{PYTHONPATH}"
              "${Python_EXECUTABLE}" -m nanobind --cmake_dir
      OUTPUT_VARIABLE nanobind_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_package(nanobind CONFIG QUIET PATHS "${nanobind_folder}" NO_DEFAULT_PATH)
  endif()
  if(NOT Python_FOUND)
    set(QUADRAT_PYTHON_WHY_NOT " (missing: Python 3.10 or later with its headers)")
  elseif(NOT nanobind_FOUND)
    set(QUADRAT_PYTHON_WHY_NOT " (missing: nanobind)")
  else()
    set(QUADRAT_BUILD_PYTHON ON)
  endif()
  if(QUADRAT_PYTHON STREQUAL "ON" AND NOT QUADRAT_BUILD_PYTHON)
    message(FATAL_ERROR "QUADRAT_PYTHON is ON, but it cannot be built${QUADRAT_PYTHON_WHY_NOT}; try script/python-packages")
  endif()
endif()

set(QUADRAT_BUILD_LAMMPS OFF)
set(QUADRAT_LAMMPS_WHY_NOT "")
# A program without sanitizers cannot load a plugin built with them.
if(QUADRAT_LAMMPS STREQUAL "ON" OR (QUADRAT_LAMMPS STREQUAL "AUTO" AND PROJECT_IS_TOP_LEVEL AND NOT QUADRAT_SANITIZE))
  # LAMMPS' CMake package stops the configuration when its program is not installed, as with Debian's liblammps-dev alone.
  find_program(QUADRAT_LAMMPS_PROGRAM NAMES lmp)
  mark_as_advanced(QUADRAT_LAMMPS_PROGRAM)
  if(QUADRAT_LAMMPS_PROGRAM)
    find_package(LAMMPS CONFIG QUIET)
  endif()
  if(NOT QUADRAT_HAS_MPI)
    set(QUADRAT_LAMMPS_WHY_NOT " (needs MPI)")
  elseif(NOT TARGET LAMMPS::lammps)
    set(QUADRAT_LAMMPS_WHY_NOT " (none found)")
  else()
    # Headers change between versions, and need others that a distribution may have in a version that does not fit.
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    try_compile(
      QUADRAT_LAMMPS_COMPILES SOURCE_FROM_CONTENT
      lammps.cpp "#include \"${PROJECT_SOURCE_DIR}/apps/lammps/headers.hpp\"\n" LINK_LIBRARIES LAMMPS::lammps CXX_STANDARD 20)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    if(QUADRAT_LAMMPS_COMPILES)
      set(QUADRAT_BUILD_LAMMPS ON)
    else()
      set(QUADRAT_LAMMPS_WHY_NOT " (its headers do not compile)")
    endif()
  endif()
  if(QUADRAT_LAMMPS STREQUAL "ON" AND NOT QUADRAT_BUILD_LAMMPS)
    message(FATAL_ERROR "QUADRAT_LAMMPS is ON, but the plugin cannot be built${QUADRAT_LAMMPS_WHY_NOT}; try script/bootstrap --mpi")
  endif()
endif()
