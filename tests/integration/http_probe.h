#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace plimsoll {

// A TCP connection to loopback on which bytes are sent as they are, for requests that no HTTP
// library would make. Every wait ends after ten seconds. Thread-compatible.
class HttpProbe {
 public:
  // `source` is the loopback address it comes from: 127.0.0.1, 127.0.0.2 and so on.
  explicit HttpProbe(std::uint16_t port, const std::string& source = "127.0.0.1");
  ~HttpProbe();
  HttpProbe(const HttpProbe&) = delete;
  HttpProbe& operator=(const HttpProbe&) = delete;

  bool connected() const { return socket_ >= 0; }
  // False if the peer has closed.
  bool Send(const std::string& bytes);
  // The next response, head and body; what came until then if the peer closes first.
  std::string Receive();
  // All until the peer closes.
  std::string ReceiveAll();
  // All up to and with `text`, which may be in the middle of a response; all there is if the peer
  // closes before.
  std::string ReceiveUntil(const std::string& text);
  // True if nothing arrives within `time`.
  bool IsSilentFor(absl::Duration time);
  void Close();

 private:
  // False at the end of the stream.
  bool ReadMore();

  int socket_ = -1;
  std::string buffer_;
};

// The status of a response; 0 if it is none.
int StatusOf(const std::string& response);
std::string BodyOf(const std::string& response);
// A GET or POST with a JSON body, of HTTP/1.1.
std::string Get(const std::string& target, const std::string& headers = "");
std::string Post(const std::string& target, const std::string& body);

}  // namespace plimsoll
