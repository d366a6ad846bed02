# SPDX-License-Identifier: BSD-3-Clause
# Run by build_info.cmake in each build: writes OUTPUT from TEMPLATE if it has changed. The environment variable
# QUADRAT_COMMIT overrides the commit, also for sources without history.

set(COMMIT "unknown")
find_program(git git)
if(DEFINED ENV{QUADRAT_COMMIT})
  set(COMMIT "$ENV{QUADRAT_COMMIT}")
elseif(git AND EXISTS "${SOURCE_DIR}/.git")
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
