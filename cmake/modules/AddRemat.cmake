# The conventions of every Remat target, in one place.
#
#   add_remat_library(NAME sources... [DEPENDS targets...] [LINK_LIBS targets...])
#     A static library. LINK_LIBS names Remat libraries, `LLVM` or `MLIR`: the last two are the
#     shared libraries of the LLVM release, so that exactly one MLIR exists in a process.
#   add_remat_tool(NAME sources... [LINK_LIBS targets...])
#   add_remat_tablegen(TARGET ...)
#     see the function.

# Interface target with what every translation unit of the project is compiled with.
add_library(RematOptions INTERFACE)
target_compile_features(RematOptions INTERFACE cxx_std_17)
target_include_directories(RematOptions INTERFACE
  $<BUILD_INTERFACE:${REMAT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${REMAT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_include_directories(RematOptions SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# The packages repeat the C++ ABI definition; once is enough.
separate_arguments(REMAT_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
list(REMOVE_DUPLICATES REMAT_LLVM_DEFINITIONS)
list(FILTER REMAT_LLVM_DEFINITIONS EXCLUDE REGEX "_GLIBCXX_USE_CXX11_ABI")
target_compile_options(RematOptions INTERFACE ${REMAT_LLVM_DEFINITIONS})

# Warnings and code generation are ours alone: they do not travel with the installed package.
add_library(RematBuildOptions INTERFACE)
target_compile_options(RematBuildOptions INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wpedantic -Wnon-virtual-dtor
  -fno-exceptions -ffp-contract=off -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Reports about uninitialised members inside LLVM's containers are false ones.
  target_compile_options(RematBuildOptions INTERFACE -Wno-maybe-uninitialized -Wno-dangling-reference)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(RematBuildOptions INTERFACE -Wno-pedantic)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # std::stable_sort of libstdc++ 12 uses a function that it declares deprecated itself.
  target_compile_options(RematBuildOptions INTERFACE -Wno-deprecated-declarations)
endif()
if(REMAT_ENABLE_WERROR)
  target_compile_options(RematBuildOptions INTERFACE -Werror)
endif()
if(REMAT_ENABLE_ASSERTIONS)
  target_compile_options(RematBuildOptions INTERFACE -UNDEBUG)
endif()
if(REMAT_ENABLE_SANITIZERS)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

set_property(GLOBAL PROPERTY REMAT_LIBRARIES)

function(add_remat_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Remat::${name} ALIAS ${name})
  target_link_libraries(${name} PUBLIC RematOptions ${ARG_LINK_LIBS}
                        PRIVATE $<BUILD_INTERFACE:RematBuildOptions>)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY REMAT_LIBRARIES ${name})
endfunction()

function(add_remat_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} RematBuildOptions)
  # The runtime library is found beside the tool.
  file(RELATIVE_PATH libraries "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# add_remat_tablegen(TARGET FILE.td OUTPUT ARGS... [OUTPUT ARGS...])
#   Runs mlir-tblgen once per output; TARGET builds all of them. Each output is one list element
#   "Name.inc|-gen-x|-more": the parts are separated by '|'.
function(add_remat_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  foreach(output IN LISTS ARGN)
    string(REPLACE "|" ";" parts "${output}")
    list(POP_FRONT parts file)
    mlir_tablegen(${file} ${parts} EXTRA_INCLUDES ${REMAT_SOURCE_DIR}/include ${MLIR_INCLUDE_DIRS})
  endforeach()
  add_public_tablegen_target(${target})
endfunction()
