#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace plimsoll {

// Settings of an Agent. Only `controllers` and `service` have to be set.
struct AgentOptions {
  // Where the controllers' agent planes listen: "http://10.0.0.5:7481", or with https:// if they
  // have certificates. Several are tried in turn with random pauses; give all there are. At least
  // one.
  std::vector<std::string> controllers;

  // The secret that proves to the controllers who this is, if they ask for one; never logged. Do
  // not send it over http:// through a network that others can listen to.
  std::string token = {};
  // For https://: a file of PEM certificates of those who may vouch for a controller; empty: those
  // that the system trusts. The name or address in `controllers` must be in its certificate.
  std::string ca_file = {};
  // The certificate, with its chain, and the key that prove who this is, as PEM files; both or
  // none. Read once, when the agent starts.
  std::string client_cert_file = {};
  std::string client_key_file = {};

  // Which service this process is a replica of: a name of 1 to 63 letters, digits, '.', '_', '~',
  // '-' that begins and ends with a letter or digit.
  std::string service;

  // The name of this replica, if it has one that no other live process of the service has, such as
  // a pod name. A restarted process that keeps the name gets its predecessor's share back after one
  // call deadline instead of a whole lease. Two live processes with one name break the quota, so
  // leave it empty unless you are sure: then a random name is drawn.
  std::string instance;

  std::string zone;  // for people; may be empty

  std::chrono::milliseconds connect_timeout{1000};
  // Beyond the time that the controller may hold an answer.
  std::chrono::milliseconds answer_timeout{1000};
  // How long the destructor waits for calls in flight before it gives up on a clean release; the
  // share is then freed by time. Drain() takes its own time.
  std::chrono::milliseconds release_timeout{200};

  // Called with one line when something needs a person's attention, such as a dependency without a
  // policy. From the agent's own thread; must neither block nor throw. By default lines go to
  // stderr.
  std::function<void(std::string_view line)> log;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const AgentOptions& options);

}  // namespace plimsoll
