#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"
#include "controller/main/access_config.h"
#include "controller/main/etcd_config.h"
#include "controller/main/log.h"
#include "plimsoll/controller/options.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/controller/templates.h"
#include "plimsoll/http/config_facts.h"
#include "plimsoll/http/server.h"

namespace plimsoll {

// Where the controller keeps what a restart must find again.
enum class StateMode {
  kEmbedded,  // SQLite in `state_dir`
  kEtcd,      // in an etcd that several controllers share, of which one leads
  kMemory,    // nowhere: a restart breaks the quota, so for development only
};

// What the file of plimsoll-controller says, with defaults filled in. controller/deploy/ has an
// example with every key explained.
struct Config {
  ServerOptions server;  // access and certificates only after LoadReferences()
  AccessConfig access;
  CoreOptions core;
  bool console =
      true;  // whether the program serves the one it carries, at server.console.base_path
  StateMode state_mode = StateMode::kEmbedded;
  std::string state_dir = "/var/lib/plimsoll";
  EtcdSettings etcd;
  std::string etcd_password;  // only after LoadReferences()
  AdvertiseSettings advertise;
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
  PolicySet policies;
  TemplateSet templates;
  bool observe_all = false;  // the emergency switch: nothing is enforced
  // Where each setting is from; filled in by LoadLayered().
  std::vector<ConfigEntry> entries;
  // What the file says of "defaults", if it does, and of each dependency, as JSON; and the template
  // that holds where it names no dependencies.
  std::vector<ConfigEntry> policy_entries;
  // What is no fault, but should be looked at; one line each.
  std::vector<std::string> warnings;
};

// Which defaults a file starts from. The file wins over both.
enum class Profile {
  kProduction,
  // State in memory, leases so short that one sees them end, and a template for all dependencies
  // until the file has "dependencies".
  kDevelopment,
};

// The configuration of an empty file.
Config DefaultConfig(Profile profile);

// Reads the text of a configuration file. Everything that is wrong is told at once: the message of
// the kInvalidArgument has one line per fault, "FILE:LINE:COLUMN: POINTER: MESSAGE", where FILE is
// `name` and POINTER a JSON pointer. Pure.
absl::StatusOr<Config> ParseConfig(const std::string& text, const std::string& name,
                                   Profile profile);
// The same, with the faults one by one.
absl::StatusOr<Config> ParseConfig(const std::string& text, const std::string& name,
                                   Profile profile, Faults& faults);

// What a dependency is that sets nothing.
Policy DefaultPolicy(Profile profile);

// What ParseConfig() does with a file that has been parsed already; `fingerprinted` is what its
// hash is made of. Only if nothing was added to `faults` may the result be used. Pure.
// Without `variables`, what the environment has is not looked at.
Config ReadConfig(const YamlNode& root, const std::string& fingerprinted, Profile profile,
                  const VariableLookup& variables, Faults& faults);

// What a file of ours says at least, for messages.
YamlAdvice ConfigAdvice();

// The tokens of the configuration, and of the file that it names, if it does. Errors have one line
// per fault, and never show what might be a token.
absl::StatusOr<std::vector<TokenRule>> LoadTokens(const AccessConfig& access);

// Reads the files that a configuration refers to, tokens and certificates, into `config.server`.
absl::Status LoadReferences(Config& config);

// ParseConfig() and LoadReferences() for a file on disk. kNotFound or kUnavailable if one cannot be
// read.
absl::StatusOr<Config> LoadConfig(const std::string& path, Profile profile);
absl::StatusOr<Config> LoadConfig(const std::string& path, Profile profile, Faults& faults);

// "FILE: valid, 2 dependencies, 1 template\n": what a check says in the end.
std::string ValidText(const std::string& file, const Config& config);

}  // namespace plimsoll
