# What the Python package bundles, as the install component `Python`: python/pyproject.toml installs
# it, and so does `cmake --install build --component Python --prefix DIR`. It is not a part of other
# installations.
set(REMAT_PYTHON_TOOLS_DIR "remat/_tools")

# The same places relative to each other as elsewhere, so the same RPATH holds. Whatever loads the
# library asks for its SONAME.
install(TARGETS remat-opt remat-plan
  RUNTIME DESTINATION "${REMAT_PYTHON_TOOLS_DIR}/bin" COMPONENT Python EXCLUDE_FROM_ALL)
install(TARGETS RematPlanner-c
  LIBRARY DESTINATION "${REMAT_PYTHON_TOOLS_DIR}/lib" COMPONENT Python EXCLUDE_FROM_ALL
  NAMELINK_SKIP)
