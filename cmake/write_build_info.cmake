# SPDX-License-Identifier: BSD-3-Clause
# Run by build_info.cmake at each build: writes OUTPUT from TEMPLATE, only if it changes. A copy of the sources without
# its history takes the commit from the environment variable QUADRAT_COMMIT.

set(COMMIT "unknown")
if(DEFINED ENV{QUADRAT_COMMIT})
  set(COMMIT "$ENV{QUADRAT_COMMIT}")
endif()
find_program(git git)
if(git AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${git}" describe --always --dirty --exclude=* --abbrev=12
    WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE described
    RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0)
    set(COMMIT "${described}")
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
