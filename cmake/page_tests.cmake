# SPDX-License-Identifier: BSD-3-Clause
# tests/pages/*_test.py: the code on the README and on the pages of docs/ compiles and runs. script/docs --check also
# runs them, with the site that it has built.

if(NOT TARGET quadrat_python OR NOT TARGET quadrat_program)
  return()
endif()
file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/pages/*_test.py")
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  add_test(NAME "pages/${name}" COMMAND "${Python_EXECUTABLE}" -m pytest -q -p no:cacheprovider "${script}")
  set_tests_properties(
    "pages/${name}"
    PROPERTIES
      ENVIRONMENT
      "CXX=${CMAKE_CXX_COMPILER};QUADRAT_BUILD=${PROJECT_BINARY_DIR};QUADRAT_PROGRAM=$<TARGET_FILE:quadrat_program>;PYTHONPATH=$<TARGET_FILE_DIR:quadrat_python>/..:${PROJECT_SOURCE_DIR}/build/python;PYTHONDONTWRITEBYTECODE=1;${quadrat_test_environment}"
      SKIP_RETURN_CODE 5 LABELS pages)
endforeach()
