# find_package(hip): the virtual GPU's runtime and compiler under the names ROCm's package has.
get_filename_component(_hip_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(HIP_PATH "${_hip_root}")
set(HIP_ROOT_DIR "${_hip_root}")
set(HIP_BIN_INSTALL_DIR "${_hip_root}/bin")
set(HIP_HIPCC_EXECUTABLE "${_hip_root}/bin/hipcc")
set(HIP_HIPCONFIG_EXECUTABLE "${_hip_root}/bin/hipconfig")
set(HIP_COMPILER "clang")
set(HIP_PLATFORM "amd")
set(HIP_RUNTIME "rocclr")
set(HIP_CXX_COMPILER "${HIP_HIPCC_EXECUTABLE}")
set(hip_INCLUDE_DIR "${_hip_root}/include")
set(hip_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(hip_LIB_INSTALL_DIR "${_hip_root}/lib")
set(hip_BIN_INSTALL_DIR "${_hip_root}/bin")
set(hip_LIBRARIES hip::host hip::device)
set(hip_LIBRARY ${hip_LIBRARIES})
set(HIP_INCLUDE_DIR "${hip_INCLUDE_DIR}")
set(HIP_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(HIP_LIBRARIES ${hip_LIBRARIES})
set(HIP_FOUND TRUE)
include("${CMAKE_CURRENT_LIST_DIR}/hip-config-version.cmake")
set(HIP_VERSION "${PACKAGE_VERSION}")
set(hip_VERSION "${PACKAGE_VERSION}")

if(NOT GPU_TARGETS)
  set(GPU_TARGETS "gfx942" CACHE STRING "GPUs that device code is built for")
endif()
if(NOT AMDGPU_TARGETS)
  set(AMDGPU_TARGETS "${GPU_TARGETS}")
endif()

if(NOT TARGET hip::amdhip64)
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_hip_root}/lib/libamdhip64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
  )
  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES INTERFACE_LINK_LIBRARIES hip::amdhip64)
  # C++ sources of whoever links this are HIP sources where hipcc or a clang compiles them. Another
  # compiler (g++) gets the host's interface alone, as with ROCm's package.
  add_library(hip::device INTERFACE IMPORTED)
  set_target_properties(hip::device PROPERTIES INTERFACE_LINK_LIBRARIES hip::host)
  get_filename_component(_hip_compiler "${CMAKE_CXX_COMPILER}" NAME)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR _hip_compiler MATCHES "^(hipcc|amdclang)")
    set(_hip_options "SHELL:-x hip")
    foreach(_hip_target ${GPU_TARGETS})
      list(APPEND _hip_options "--offload-arch=${_hip_target}")
    endforeach()
    set_target_properties(hip::device PROPERTIES
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:${_hip_options}>"
    )
  endif()
endif()
