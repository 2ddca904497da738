# Run as a script, see CMakeLists.txt: builds the console if NODE is set, and writes OUTPUT, C++ that
# holds what is in the folder of the result.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/PlimsollEmbed.cmake)

# node_modules is shared by all builds of this tree, and filled when the lock file is a new one.
function(install_packages ok)
  set(stamp ${SOURCE}/node_modules/.plimsoll-lock)
  # Builds in several folders may begin at once. The file that is locked is emptied.
  file(LOCK ${SOURCE}/node_modules.lock GUARD FUNCTION TIMEOUT 600)
  file(SHA256 ${SOURCE}/package-lock.json wanted)
  set(present "")
  if(EXISTS ${stamp})
    file(READ ${stamp} present)
  endif()
  if(NOT present STREQUAL wanted)
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${SOURCE}
      RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
      string(SUBSTRING "${said}" 0 400 said)
      message(STATUS "npm ci failed, so the committed console is used: ${said}")
      set(${ok} FALSE PARENT_SCOPE)
      return()
    endif()
    file(WRITE ${stamp} ${wanted})
  endif()
  set(${ok} TRUE PARENT_SCOPE)
endfunction()

set(dist ${SOURCE}/dist)
if(NODE)
  install_packages(installed)
  if(installed)
    execute_process(COMMAND ${NODE} build.mjs ${WORK}/dist WORKING_DIRECTORY ${SOURCE}
      RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed)
      message(FATAL_ERROR "the console does not build:\n${said}")
    endif()
    set(dist ${WORK}/dist)
  endif()
endif()

set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_txt "text/plain; charset=utf-8")
plimsoll_embed(arrays ${dist}/index.html kPage)
set(assets "")
file(GLOB files RELATIVE ${dist}/assets ${dist}/assets/*)
set(number 0)
foreach(file IN LISTS files)
  plimsoll_embed(array ${dist}/assets/${file} kAsset${number} GZIP ${WORK})
  string(REGEX REPLACE ".*\\." "" ending ${file})
  set(type "${type_${ending}}")
  if(NOT type)
    message(FATAL_ERROR "no content type for ${file}: add one to cmake/embed.cmake")
  endif()
  string(APPEND arrays "${array}")
  string(APPEND assets "      {\"${file}\", \"${type}\", Bytes(kAsset${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT} "// Made by dashboards/console/cmake/embed.cmake.
#include \"plimsoll/console/embedded_console.h\"

#include <cstddef>

namespace plimsoll {
namespace {

${arrays}
// Without the zero that ends a literal.
template <std::size_t size>
constexpr std::string_view Bytes(const char (&bytes)[size]) {
  return {bytes, size - 1};
}

}  // namespace

Console EmbeddedConsole() {
  Console console;
  console.page = Bytes(kPage);
  console.assets = {
${assets}  };
  return console;
}

}  // namespace plimsoll
")
