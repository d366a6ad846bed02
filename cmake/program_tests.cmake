# SPDX-License-Identifier: BSD-3-Clause
# tests/program/*_test.py and *_test.sh: each gets the program's path in QUADRAT_PROGRAM.

if(NOT TARGET quadrat_program)
  return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
find_program(QUADRAT_BASH bash)
mark_as_advanced(QUADRAT_BASH)

file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/program/*_test.py"
     "${CMAKE_CURRENT_SOURCE_DIR}/program/*_test.sh")
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  set(interpreter "$<IF:$<STREQUAL:$<PATH:GET_EXTENSION,LAST_ONLY,${script}>,.py>,${Python3_EXECUTABLE},${QUADRAT_BASH}>")
  add_test(NAME "program/${name}" COMMAND "${interpreter}" "${script}")
  set_tests_properties(
    "program/${name}"
    PROPERTIES ENVIRONMENT
               "QUADRAT_PROGRAM=$<TARGET_FILE:quadrat_program>;QUADRAT_SOURCE_DIR=${PROJECT_SOURCE_DIR};${quadrat_test_environment};${quadrat_hostile_environment}"
               SKIP_RETURN_CODE 77 LABELS program)
endforeach()
