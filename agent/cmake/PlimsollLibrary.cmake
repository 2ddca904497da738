# Warnings are set per target, never globally: an embedding project keeps its own.
function(plimsoll_compile_options target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Werror=thread-safety>
    $<$<BOOL:${PLIMSOLL_WERROR}>:-Werror>)
  # g++ 12, optimising, takes the inactive members of a std::variant for uninitialised ones, and
  # short texts for long ones (GCC bugs 105651, 105329).
  target_compile_options(${target} PRIVATE
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Debug>>>:-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
  # In a unity build an anonymous namespace of a source looks like one of a header.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# What most files include, parsed once, for builds that take less time. Off by default, and off where
# the headers' own includes are checked (preset clang).
set(PLIMSOLL_COMMON_HEADERS
  <algorithm> <array> <chrono> <cstdint> <deque> <functional> <map> <memory> <optional> <set> <string>
  <string_view> <utility> <variant> <vector>
  <absl/container/flat_hash_map.h> <absl/status/status.h> <absl/status/statusor.h>
  <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/time/time.h>)

# plimsoll_precompile(<target> <name> [<header>...]): targets of one name share what is precompiled,
# so they must have the same options.
function(plimsoll_precompile target name)
  if(NOT PLIMSOLL_PCH)
    return()
  endif()
  set(shared plimsoll_${name}_pch)
  if(NOT TARGET ${shared})
    set(source ${CMAKE_BINARY_DIR}/${shared}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${shared} OBJECT ${source})
    target_compile_features(${shared} PUBLIC cxx_std_20)
    target_link_libraries(${shared} PRIVATE
      absl::flat_hash_map absl::status absl::statusor absl::strings absl::str_format absl::time)
    plimsoll_compile_options(${shared})
    if(name STREQUAL "test")
      target_link_libraries(${shared} PRIVATE GTest::gmock)
    else()
      set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    target_precompile_headers(${shared} PRIVATE ${PLIMSOLL_COMMON_HEADERS} ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

# Asio 1.74 knows of coroutines in g++ only. clang 14 has them, but does not announce them.
function(plimsoll_use_asio target)
  target_link_libraries(${target} PRIVATE Boost::headers Threads::Threads)
  # g++ 12, optimising, sees Asio's own operator new for coroutines and not the delete that matches.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_definitions(${target} PRIVATE
      BOOST_ASIO_HAS_CO_AWAIT BOOST_ASIO_HAS_STD_COROUTINE)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
      target_compile_definitions(${target} PRIVATE __cpp_impl_coroutine=201902L)
    endif()
  endif()
endfunction()

# plimsoll_library(NAME <name> [INTERNAL] [COMPONENT <component>] [BASE_DIR <dir>]
#                  SOURCES <file>... HEADERS <file>...
#                  [PUBLIC_DEPS <target>...] [PRIVATE_DEPS <target>...])
#
# Adds the static library plimsoll_<name> and its alias plimsoll::<name>, which is also its name for
# those who use the installed package. BASE_DIR is the door of the library, by default `include`:
# HEADERS lie below it, and the target all_verify_interface_header_sets compiles each of them alone.
# INTERNAL libraries are not installed; the others belong to COMPONENT, by default `agent`.
# Private headers are included by their path from the root: "agent/src/session.h".
function(plimsoll_library)
  cmake_parse_arguments(PARSE_ARGV 0 ARG
    "INTERNAL" "NAME;COMPONENT;BASE_DIR" "SOURCES;HEADERS;PUBLIC_DEPS;PRIVATE_DEPS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_NAME)
    message(FATAL_ERROR "plimsoll_library: unexpected '${ARG_UNPARSED_ARGUMENTS}' or no NAME")
  endif()
  if(NOT ARG_BASE_DIR)
    set(ARG_BASE_DIR include)
  endif()
  if(NOT ARG_COMPONENT)
    set(ARG_COMPONENT agent)
  endif()

  set(target plimsoll_${ARG_NAME})
  add_library(${target} STATIC)
  add_library(plimsoll::${ARG_NAME} ALIAS ${target})
  target_sources(${target}
    PRIVATE ${ARG_SOURCES}
    PUBLIC FILE_SET HEADERS BASE_DIRS ${ARG_BASE_DIR} FILES ${ARG_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  plimsoll_compile_options(${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${ARG_NAME}
    POSITION_INDEPENDENT_CODE ON
    VERIFY_INTERFACE_HEADER_SETS ON)

  plimsoll_precompile(${target} library)

  if(PLIMSOLL_INSTALL AND NOT ARG_INTERNAL)
    install(TARGETS ${target} EXPORT plimsoll-${ARG_COMPONENT}-targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
      FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
    set_property(GLOBAL APPEND PROPERTY PLIMSOLL_COMPONENTS ${ARG_COMPONENT})
  endif()
endfunction()
