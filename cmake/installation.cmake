# SPDX-License-Identifier: BSD-3-Clause
# find_package(quadrat) gives quadrat::quadrat; with COMPONENTS io also quadrat::io, which reads and writes files and needs
# libpng and zlib; with COMPONENTS mpi also quadrat::mpi, which needs MPI.
include(CMakePackageConfigHelpers)

set(quadrat_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/quadrat")

install(TARGETS quadrat EXPORT quadratTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quadrat" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        PATTERN "quadrat/io" EXCLUDE)
if(TARGET quadrat_mpi)
  install(TARGETS quadrat_mpi EXPORT quadratMpiTargets)
  install(EXPORT quadratMpiTargets NAMESPACE quadrat:: DESTINATION "${quadrat_package_dir}")
endif()
if(TARGET quadrat_io)
  install(TARGETS quadrat_io EXPORT quadratIoTargets)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quadrat/io" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quadrat")
  install(EXPORT quadratIoTargets NAMESPACE quadrat:: DESTINATION "${quadrat_package_dir}")
endif()
install(FILES "${PROJECT_BINARY_DIR}/include/quadrat/core/config.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quadrat/core")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(EXPORT quadratTargets NAMESPACE quadrat:: DESTINATION "${quadrat_package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/quadratConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/quadratConfig.cmake" INSTALL_DESTINATION "${quadrat_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/quadratConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/quadratConfig.cmake" "${PROJECT_BINARY_DIR}/quadratConfigVersion.cmake"
        DESTINATION "${quadrat_package_dir}")
