#pragma once

#include <string>
#include <vector>

#include "api/http/src/http_message.h"

namespace plimsoll::internal {

// Which pages of other origins may read this plane. They are told apart by the header Origin, which
// browsers set and pages cannot; whoever is no browser is not concerned. Reading only: GET and
// HEAD. Credentials of the browser's own (cookies, client certificates) are never asked for; a page
// that has a token sends it in the header Authorization. Thread-compatible.
class Cors {
 public:
  // Origins as browsers send them: scheme, host, and the port if it is not the usual one. They are
  // compared whole. None: nothing is allowed, and nothing is said.
  explicit Cors(std::vector<std::string> origins) : origins_(std::move(origins)) {}

  // What the answer to `request` is to say beside what it says anyway.
  HttpHeaders Headers(const HttpRequest& request) const;
  // A browser asks, without credentials, whether a page may read: answered with 204 if it may.
  // False if this is no such question, or not one to be answered with yes.
  bool AnswerPreflight(const HttpRequest& request, Exchange& exchange) const;

 private:
  bool Allows(const std::string& origin) const;

  std::vector<std::string> origins_;
};

}  // namespace plimsoll::internal
