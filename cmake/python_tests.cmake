# SPDX-License-Identifier: BSD-3-Clause
# tests/python/*_test.py: each file is a test, run by pytest with the built package.

if(NOT TARGET quadrat_python)
  return()
endif()
set(packages "${PROJECT_SOURCE_DIR}/build/python")
file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/python/*_test.py")
# A stand-in for the GPU library, for tests/python/standin_test.py: the C interface, but it computes on the CPU.
add_library(quadrat_python_standin SHARED "${CMAKE_CURRENT_SOURCE_DIR}/python/standin/exports.cpp")
set(standin "$<TARGET_FILE_DIR:quadrat_python>/../standin/quadrat_cuda13")
set_target_properties(quadrat_python_standin PROPERTIES OUTPUT_NAME quadrat_cuda13 LIBRARY_OUTPUT_DIRECTORY "${standin}"
                                                        CXX_VISIBILITY_PRESET hidden)
target_link_libraries(quadrat_python_standin PRIVATE quadrat::c quadrat::core ${CMAKE_DL_LIBS})
target_link_options(quadrat_python_standin PRIVATE -Wl,--no-as-needed) # others find the functions there
quadrat_configure_target(quadrat_python_standin)
file(WRITE "${PROJECT_BINARY_DIR}/python/standin/quadrat_cuda13/__init__.py" "")

set(program "")
if(TARGET quadrat_program)
  set(program "QUADRAT_PROGRAM=$<TARGET_FILE:quadrat_program>;")
endif()
set(lammps "")
if(TARGET quadrat_lammps)
  set(lammps "QUADRAT_LAMMPS_PLUGIN=$<TARGET_FILE:quadrat_lammps>;QUADRAT_LAMMPS_LIBRARY=$<TARGET_FILE:LAMMPS::lammps>;MPIEXEC=${MPIEXEC_EXECUTABLE};")
endif()
foreach(script IN LISTS scripts)
  get_filename_component(name "${script}" NAME_WE)
  add_test(NAME "python/${name}" COMMAND "${Python_EXECUTABLE}" -m pytest -q -p no:cacheprovider "${script}")
  set_tests_properties(
    "python/${name}"
    PROPERTIES ENVIRONMENT
               "${program}${lammps}PYTHONPATH=$<TARGET_FILE_DIR:quadrat_python>/..:${packages};PYTHONDONTWRITEBYTECODE=1;${quadrat_test_environment}"
               SKIP_RETURN_CODE 5 # pytest's status if everything that a file tests is not installed
               LABELS python)
endforeach()
