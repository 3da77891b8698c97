# Installs libraries, headers and a CMake package: find_package(Remat) and link Remat::RematTransforms.
include(CMakePackageConfigHelpers)

set(REMAT_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/Remat")
get_property(remat_libraries GLOBAL PROPERTY REMAT_LIBRARIES)

install(TARGETS RematOptions ${remat_libraries} EXPORT RematTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT RematTargets NAMESPACE Remat:: DESTINATION ${REMAT_INSTALL_CMAKEDIR})
install(DIRECTORY "${REMAT_SOURCE_DIR}/include/" "${REMAT_BINARY_DIR}/include/"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.td"
  PATTERN CMakeFiles EXCLUDE)

# The loader does not search the folder of MLIR's shared library by itself.
get_property(remat_tool_directories DIRECTORY "${REMAT_SOURCE_DIR}/tools" PROPERTY SUBDIRECTORIES)
foreach(directory IN LISTS remat_tool_directories)
  get_property(remat_tools DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  set_property(TARGET ${remat_tools} PROPERTY INSTALL_RPATH_USE_LINK_PATH ON)
endforeach()

configure_package_config_file("${REMAT_SOURCE_DIR}/cmake/modules/RematConfig.cmake.in"
  "${REMAT_BINARY_DIR}/RematConfig.cmake"
  INSTALL_DESTINATION ${REMAT_INSTALL_CMAKEDIR})
write_basic_package_version_file("${REMAT_BINARY_DIR}/RematConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${REMAT_BINARY_DIR}/RematConfig.cmake" "${REMAT_BINARY_DIR}/RematConfigVersion.cmake"
  DESTINATION ${REMAT_INSTALL_CMAKEDIR})
