# SPDX-License-Identifier: BSD-3-Clause
# Run as a test by header_tests.cmake: INCLUDE_DIR/quadrat/quadrat.hpp, which COMPILER compiles with the include folder
# CONFIG_DIR besides, includes each header of HEADERS.

execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fopenmp -MM "-I${INCLUDE_DIR}" "-I${CONFIG_DIR}" "${INCLUDE_DIR}/quadrat/quadrat.hpp"
  OUTPUT_VARIABLE included COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "," ";" HEADERS "${HEADERS}")
foreach(header IN LISTS HEADERS)
  string(FIND "${included}" "${INCLUDE_DIR}/${header} " found)
  if(found EQUAL -1)
    message(SEND_ERROR "quadrat/quadrat.hpp does not include ${header}")
  endif()
endforeach()
