# SPDX-License-Identifier: BSD-3-Clause
# tests/python/*_test.py: each a test by pytest, with the package as it was built.

if(NOT TARGET quadrat_python)
  return()
endif()
set(packages "${PROJECT_SOURCE_DIR}/build/python")
file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/python/*_test.py")
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  add_test(NAME "python/${name}" COMMAND "${Python_EXECUTABLE}" -m pytest -q -p no:cacheprovider "${script}")
  set_tests_properties(
    "python/${name}"
    PROPERTIES ENVIRONMENT
               "PYTHONPATH=$<TARGET_FILE_DIR:quadrat_python>/..:${packages};PYTHONDONTWRITEBYTECODE=1;${quadrat_test_environment}"
               LABELS python)
endforeach()
