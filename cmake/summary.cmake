# SPDX-License-Identifier: BSD-3-Clause
# Prints one line: what was found and what is off.

if(QUADRAT_HAS_CUDA)
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES PREPEND "sm_" OUTPUT_VARIABLE architectures)
  list(JOIN architectures " " architectures)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" cuda_version "${CMAKE_CUDA_COMPILER_VERSION}")
  set(cuda_summary "CUDA ${cuda_version} (${architectures}) on")
  if(QUADRAT_HAS_CUSPARSE)
    string(APPEND cuda_summary ", cuSPARSE on")
  else()
    string(APPEND cuda_summary ", cuSPARSE off (no cusparse.h found)")
  endif()
elseif(QUADRAT_CUDA STREQUAL "OFF")
  set(cuda_summary "CUDA off")
else()
  set(cuda_summary "CUDA off (no nvcc found)")
endif()

function(quadrat_on_off out value)
  if(value)
    set(${out} on PARENT_SCOPE)
  else()
    set(${out} off PARENT_SCOPE)
  endif()
endfunction()

quadrat_on_off(program_summary "${QUADRAT_BUILD_PROGRAM}")
quadrat_on_off(python_summary "${QUADRAT_BUILD_PYTHON}")
quadrat_on_off(tests_summary "${QUADRAT_BUILD_TESTS}")
quadrat_on_off(png_summary "${PNG_FOUND}")
string(
  CONCAT summary
         "quadrat ${PROJECT_VERSION}: ${cuda_summary}, OpenMP on, program ${program_summary}${QUADRAT_PROGRAM_WHY_NOT}, "
         "Python ${python_summary}${QUADRAT_PYTHON_WHY_NOT}, tests ${tests_summary}${QUADRAT_TESTS_WHY_NOT}, libpng ${png_summary}")
if(QUADRAT_SANITIZE)
  string(APPEND summary ", sanitizers ${QUADRAT_SANITIZE}")
endif()
message(STATUS "${summary}")
