# SPDX-License-Identifier: BSD-3-Clause
# Every public header compiles alone, and if it is included twice; all of them together compile under nvcc. Headers only
# for nvcc reject other compilers by an #error, and only nvcc compiles them. quadrat/quadrat.hpp includes all headers.
# Types for which the library is not instantiated are rejected, with a line that names valid ones.

set(include_dir "${PROJECT_SOURCE_DIR}/include")
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${include_dir}" "${include_dir}/quadrat/*.hpp")
if(NOT QUADRAT_BUILD_PROGRAM)
  list(FILTER headers EXCLUDE REGEX "^quadrat/io/")
endif()

set(sources "")
set(all_includes "")
set(all_headers "")
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^quadrat/io/")
    string(APPEND all_includes "#include <${header}>\n")
  endif()
  file(STRINGS "${include_dir}/${header}" nvcc_only REGEX "^#error .* for sources that nvcc compiles")
  if(nvcc_only)
    continue()
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
  list(APPEND sources "${source}")
  if(NOT header MATCHES "^quadrat/(io/|quadrat.hpp)")
    list(APPEND all_headers "${header}")
  endif()
endforeach()

if(sources)
  add_library(quadrat_header_tests OBJECT ${sources})
  quadrat_configure_target(quadrat_header_tests)
  # Warnings that projects which use the headers may have enabled.
  target_compile_options(quadrat_header_tests PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wsign-conversion;-Wuseless-cast>")
  target_link_libraries(quadrat_header_tests PRIVATE quadrat::quadrat)
  if(QUADRAT_BUILD_PROGRAM)
    target_link_libraries(quadrat_header_tests PRIVATE quadrat_scenes)
  endif()
  if(QUADRAT_HAS_CUDA)
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/headers/all.cu" CONTENT "${all_includes}" @ONLY)
    target_sources(quadrat_header_tests PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/headers/all.cu")
  endif()
endif()

list(JOIN all_headers "," all_headers)
add_test(
  NAME headers/umbrella
  COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DINCLUDE_DIR=${include_dir}"
          "-DCONFIG_DIR=${PROJECT_BINARY_DIR}/include" "-DHEADERS=${all_headers}" -P "${quadrat_cmake}/umbrella_test.cmake")
set_tests_properties(headers/umbrella PROPERTIES LABELS headers)

# Checks that the compiler gives that line for tests/core/instance_errors.cpp with one of its errors.
function(quadrat_refusal_test wrong)
  add_test(
    NAME headers/refusal_${wrong}
    COMMAND
      "${CMAKE_CXX_COMPILER}" -std=c++20 -fopenmp -fsyntax-only -DWRONG=${wrong} "-I${include_dir}"
      "-I${PROJECT_BINARY_DIR}/include" "${PROJECT_SOURCE_DIR}/tests/core/instance_errors.cpp")
  set_tests_properties(headers/refusal_${wrong} PROPERTIES LABELS headers)
  if(ARGN)
    set_tests_properties(headers/refusal_${wrong} PROPERTIES PASS_REGULAR_EXPRESSION "error: [^\n]*quadrat: ${ARGN}")
  endif()
endfunction()
# An older language standard is rejected by name.
add_test(
  NAME headers/refusal_standard
  COMMAND
    "${CMAKE_CXX_COMPILER}" -std=c++17 -fopenmp -fsyntax-only -DWRONG=0 "-I${include_dir}"
    "-I${PROJECT_BINARY_DIR}/include" "${PROJECT_SOURCE_DIR}/tests/core/instance_errors.cpp")
set_tests_properties(headers/refusal_standard PROPERTIES LABELS headers PASS_REGULAR_EXPRESSION
                                                         "error: #error \"?Quadrat needs C\\+\\+20")
# A deprecated name gives a warning that says what to use instead.
add_test(
  NAME headers/deprecated
  COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only "-I${include_dir}" "-I${PROJECT_BINARY_DIR}/include"
          "${PROJECT_SOURCE_DIR}/tests/core/deprecated.cpp")
set_tests_properties(
  headers/deprecated PROPERTIES LABELS headers PASS_REGULAR_EXPRESSION
                                "warning: [^\n]*before[^\n]*is deprecated: since Quadrat 0.2, use quadrat::test::after")
quadrat_refusal_test(0) # no error
quadrat_refusal_test(1 "D must be 2 or 3")
quadrat_refusal_test(2 "D must be 2 or 3")
quadrat_refusal_test(3 "T must be float or double")
quadrat_refusal_test(4 "T must be float or double")
quadrat_refusal_test(5 "Context must be")
quadrat_refusal_test(6 "Context must be")
