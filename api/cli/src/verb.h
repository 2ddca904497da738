#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace plimsoll::cli {

// What a flag or word stands for, so that shells can complete it.
enum class Completes { kNothing, kDependency, kInstance, kFile, kChoices };

// One flag. Parser, help, man pages and completions are made from it.
struct VerbFlag {
  std::string name;   // "--output"
  std::string brief;  // "-o"; empty: it has no short form
  std::string value;  // what its value is called; empty: it takes none
  std::string help;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices = {};  // with kChoices: nothing else is taken
  bool required = false;
};

// One word that is no flag.
struct Word {
  std::string name;  // "DEP"
  bool optional = false;
  Completes completes = Completes::kNothing;
  std::vector<std::string> choices = {};  // likewise
};

// One command, "why" or "set override".
struct Verb {
  std::string name;
  std::string help;  // one line
  std::string page;  // the man page that tells of it: "plimsoll-get"
  std::vector<Word> words = {};
  std::vector<VerbFlag> flags = {};
  std::vector<std::string> notes = {};  // paragraphs for help and manual
  std::vector<std::string> examples = {};
  bool remote = true;  // talks to the controller, so it takes the flags of the connection
  bool raw = false;    // reads its arguments itself
  bool hidden = false;
};

// A call of a verb, as the parser understood it. Thread-compatible.
struct Invocation {
  const Verb* verb = nullptr;
  std::vector<std::string> words;
  std::map<std::string, std::string> flags;  // by "--name"
  std::vector<std::string> raw;              // of a raw verb: all after its name
  bool help = false;

  bool Has(const std::string& flag) const { return flags.contains(flag); }
  std::string Text(const std::string& flag, const std::string& usual = "") const {
    const auto found = flags.find(flag);
    return found == flags.end() ? usual : found->second;
  }
  std::string Word(std::size_t index) const {
    return index < words.size() ? words[index] : std::string();
  }
};

}  // namespace plimsoll::cli
