# What the Python package bundles, as the install component `Python`: python/pyproject.toml installs
# it, and so does `cmake --install build --component Python --prefix DIR`. It is not a part of other
# installations.
set(REMAT_PYTHON_TOOLS_DIR "remat/_tools")

# The OpenMP runtime is in LLVM's folder.
set_property(TARGET RematRuntime PROPERTY INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS remat-opt remat-plan
  RUNTIME DESTINATION "${REMAT_PYTHON_TOOLS_DIR}/bin" COMPONENT Python EXCLUDE_FROM_ALL)
# The tools look for libraries in ../lib. Whatever loads one asks for its SONAME.
install(TARGETS RematPlanner-c RematRuntime
  LIBRARY DESTINATION "${REMAT_PYTHON_TOOLS_DIR}/lib" COMPONENT Python EXCLUDE_FROM_ALL
  NAMELINK_SKIP)
