#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// A file of the console under /ui/assets/, compressed. Its name changes with its content, so that
// browsers may keep it for ever.
struct ConsoleAsset {
  std::string_view name;          // "app.1f2e3d4c.js"
  std::string_view content_type;  // "text/javascript; charset=utf-8"
  std::string_view gzip;
};

// What the operator plane serves under /ui/; it refers to bytes that live as long as the program.
struct Console {
  // The page, uncompressed. Its one `<base href="/ui/">` becomes that of `base_path`. Empty: there
  // is no console, and its addresses are not found.
  std::string_view page;
  std::vector<ConsoleAsset> assets;
  // Where browsers find the console: "/ui/", or what a proxy in front makes of it. See
  // IsConsolePath().
  std::string base_path = "/ui/";
};

// True for absolute paths that end in "/ui/" and can stand in a page as they are: segments of
// letters, digits, '.', '_', '~' and '-', none of them ".." or empty. The API must be found beside
// it: for "/plimsoll/ui/" at "/plimsoll/v1/".
bool IsConsolePath(std::string_view path);

}  // namespace plimsoll
