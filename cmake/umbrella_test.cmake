# SPDX-License-Identifier: BSD-3-Clause
# A test of header_tests.cmake: INCLUDE_DIR/quadrat/quadrat.hpp, compiled by COMPILER with the additional include folder
# CONFIG_DIR, includes each header of HEADERS.

cmake_minimum_required(VERSION 3.25...4.1)
execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fopenmp -MM "-I${INCLUDE_DIR}" "-I${CONFIG_DIR}" "${INCLUDE_DIR}/quadrat/quadrat.hpp"
  OUTPUT_VARIABLE included COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[ \\\n]+" ";" included "${included}")
string(REPLACE "," ";" HEADERS "${HEADERS}")
foreach(header IN LISTS HEADERS)
  if(NOT "${INCLUDE_DIR}/${header}" IN_LIST included)
    message(SEND_ERROR "quadrat/quadrat.hpp does not include ${header}")
  endif()
endforeach()
