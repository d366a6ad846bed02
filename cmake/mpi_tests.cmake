# SPDX-License-Identifier: BSD-3-Clause
# tests/distributed/mpi: a program that runs its checks on MPI ranks, started by mpirun with 1, 2, 3, 4 and 8 ranks,
# like the in-process tests with threads; also tests of ranks that fail.

if(NOT TARGET quadrat_mpi)
  return()
endif()

add_executable(quadrat_mpi_tests "${CMAKE_CURRENT_SOURCE_DIR}/distributed/mpi/main.cpp")
quadrat_link_internal(quadrat_mpi_tests)
target_compile_definitions(quadrat_mpi_tests PRIVATE QUADRAT_BACKEND_CPU=1)
target_include_directories(quadrat_mpi_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(quadrat_mpi_tests PRIVATE quadrat_mpi)

# Allows more ranks than cores, and root, for containers. Copies from process to process are off, since containers
# forbid them. Only the loopback interface is used, so that no network is needed.
set(quadrat_mpi_environment
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader
    OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1 ${quadrat_test_environment})

# quadrat_mpi_test(<name> <ranks> <arguments of the program>...)
function(quadrat_mpi_test name ranks)
  add_test(NAME "mpi/${name}" COMMAND "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                                      $<TARGET_FILE:quadrat_mpi_tests> ${ARGN})
  set_tests_properties("mpi/${name}" PROPERTIES ENVIRONMENT "${quadrat_mpi_environment}" LABELS mpi TIMEOUT 120
                                                PROCESSORS 2)
endfunction()

foreach(ranks IN ITEMS 1 2 3 4 8)
  quadrat_mpi_test(ranks_${ranks} ${ranks})
endforeach()

# Each of these ends the run within seconds, and names the rank.
quadrat_mpi_test(a_rank_throws 3 throw)
quadrat_mpi_test(all_ranks_throw 3 agree)
quadrat_mpi_test(a_rank_is_killed 3 kill)
set_tests_properties(mpi/a_rank_throws mpi/all_ranks_throw mpi/a_rank_is_killed PROPERTIES TIMEOUT 30)
set_tests_properties(mpi/a_rank_throws PROPERTIES PASS_REGULAR_EXPRESSION "quadrat: rank 1 of 3: particle 17 is lost")
set_tests_properties(mpi/all_ranks_throw PROPERTIES PASS_REGULAR_EXPRESSION "quadrat: rank 0 of 3: particle 17 is lost")
set_tests_properties(mpi/a_rank_is_killed PROPERTIES PASS_REGULAR_EXPRESSION "rank 1 with PID.*signal 9")
