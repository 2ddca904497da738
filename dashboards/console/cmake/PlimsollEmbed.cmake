# plimsoll_embed(<variable> <file> <symbol> [GZIP <work folder>]): C++ that defines the bytes of a
# file as the array <symbol>, compressed if GZIP is given. Same file, same text.
function(plimsoll_embed variable file symbol)
  cmake_parse_arguments(PARSE_ARGV 3 ARG "" "GZIP" "")
  if(ARG_GZIP)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(name ${file} NAME)
    set(packed ${ARG_GZIP}/${name}.gz)
    # Relative, since the path would be kept.
    execute_process(WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed
      COMMAND ${CMAKE_COMMAND} -D PACKED=${packed} -D NAME=${name} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/gzip.cmake)
    if(failed)
      message(FATAL_ERROR "cannot compress ${file}")
    endif()
    file(READ ${packed} hex HEX)
    # Bytes 4 to 7 of a gzip file are its time.
    string(SUBSTRING ${hex} 0 8 magic)
    string(SUBSTRING ${hex} 16 -1 rest)
    set(hex "${magic}00000000${rest}")
  else()
    file(READ ${file} hex HEX)
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  # One string literal; pieces, so that no line is endless.
  string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f]){32})" "\\1\"\n    \"" pieces "${escaped}")
  set(${variable} "constexpr char ${symbol}[] =\n    \"${pieces}\";\n" PARENT_SCOPE)
endfunction()
