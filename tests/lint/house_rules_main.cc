// usage: house_rules ROOT
// Prints each place below ROOT that breaks a rule, and ends with 1 if there is one.
#include <iostream>

#include "tests/lint/house_rules.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: house_rules ROOT\n";
    return 2;
  }
  const auto violations = plimsoll::lint::CheckTree(argv[1]);
  for (const auto& violation : violations) {
    std::cout << violation.path;
    if (violation.line > 0) std::cout << ":" << violation.line;
    std::cout << ": " << violation.rule << "\n";
  }
  std::cout << violations.size() << " violations\n";
  return violations.empty() ? 0 : 1;
}
