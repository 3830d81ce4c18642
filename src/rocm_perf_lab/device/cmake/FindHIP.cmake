# find_package(HIP) in module mode, with the functions old projects use: hip_add_executable,
# hip_add_library, hip_include_directories.
include("${CMAKE_CURRENT_LIST_DIR}/hip-config.cmake")
set(HIP_HIPCC_FLAGS "" CACHE STRING "Options for hipcc")
set(HIP_CLANG_FLAGS "" CACHE STRING "Options for hipcc with the clang compiler")
mark_as_advanced(HIP_HIPCC_FLAGS HIP_CLANG_FLAGS)
set_property(GLOBAL PROPERTY ROCM_PERF_HIP_DIRECTORIES "")

macro(hip_include_directories)
  set_property(GLOBAL APPEND PROPERTY ROCM_PERF_HIP_DIRECTORIES ${ARGN})
endmacro()

# Words up to HIPCC_OPTIONS, CLANG_OPTIONS or NVCC_OPTIONS are what add_executable takes.
function(_hip_build target command)
  cmake_parse_arguments(_hip "" "" "HIPCC_OPTIONS;CLANG_OPTIONS;NVCC_OPTIONS" ${ARGN})
  get_property(_hip_directories GLOBAL PROPERTY ROCM_PERF_HIP_DIRECTORIES)
  separate_arguments(_hip_flags UNIX_COMMAND "${HIP_HIPCC_FLAGS} ${HIP_CLANG_FLAGS}")
  list(APPEND _hip_flags ${_hip_HIPCC_OPTIONS} ${_hip_CLANG_OPTIONS})
  set(_hip_objects "")
  set(_hip_words "")
  foreach(_hip_word ${_hip_UNPARSED_ARGUMENTS})
    get_filename_component(_hip_source "${_hip_word}" ABSOLUTE)
    if(NOT _hip_word MATCHES "\\.(cpp|cc|cxx|cu|hip)$" OR NOT EXISTS "${_hip_source}")
      list(APPEND _hip_words "${_hip_word}")
      continue()
    endif()
    get_filename_component(_hip_name "${_hip_word}" NAME)
    list(LENGTH _hip_objects _hip_index)
    set(_hip_object "${CMAKE_CURRENT_BINARY_DIR}/${target}.${_hip_index}.${_hip_name}.o")
    add_custom_command(OUTPUT "${_hip_object}"
      COMMAND "${HIP_HIPCC_EXECUTABLE}" -fPIC ${_hip_flags}
        "$<$<BOOL:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>:-I$<JOIN:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,;-I>>"
        "$<$<BOOL:${_hip_directories}>:-I$<JOIN:${_hip_directories},;-I>>"
        -c "${_hip_source}" -o "${_hip_object}"
      DEPENDS "${_hip_source}"
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND _hip_objects "${_hip_object}")
  endforeach()
  if(command STREQUAL "executable")
    add_executable(${target} ${_hip_words} ${_hip_objects})
  else()
    add_library(${target} ${_hip_words} ${_hip_objects})
  endif()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} hip::amdhip64)
endfunction()

function(hip_add_executable target)
  _hip_build(${target} executable ${ARGN})
endfunction()
function(hip_add_library target)
  _hip_build(${target} library ${ARGN})
endfunction()
