#include "tests/integration/http_probe.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace plimsoll {
namespace {

constexpr int kWaitMs = 10'000;
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLength = "Content-Length: ";

// The length of the first response in `bytes`; 0 if it is not complete.
std::size_t ResponseSize(const std::string& bytes) {
  const std::size_t head_end = bytes.find(kHeadEnd);
  if (head_end == std::string::npos) return 0;
  const std::size_t length_at = bytes.find(kLength);
  std::size_t size = head_end + kHeadEnd.size();
  if (length_at < head_end) {
    size += std::strtoul(bytes.c_str() + length_at + kLength.size(), nullptr, 10);
  }
  return bytes.size() >= size ? size : 0;
}

}  // namespace

HttpProbe::HttpProbe(std::uint16_t port, const std::string& source)
    : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, source.c_str(), &address.sin_addr);
  if (source != "127.0.0.1" &&
      bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    Close();
    return;
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) Close();
}

HttpProbe::~HttpProbe() { Close(); }

void HttpProbe::Close() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool HttpProbe::Send(const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

std::string HttpProbe::Receive() {
  while (ResponseSize(buffer_) == 0) {
    if (!ReadMore()) return std::exchange(buffer_, "");
  }
  const std::string response = buffer_.substr(0, ResponseSize(buffer_));
  buffer_.erase(0, response.size());
  return response;
}

std::string HttpProbe::ReceiveAll() {
  while (ReadMore()) {
  }
  return std::exchange(buffer_, "");
}

std::string HttpProbe::ReceiveUntil(const std::string& text) {
  std::size_t at = buffer_.find(text);
  while (at == std::string::npos) {
    const std::size_t seen = buffer_.size();
    if (!ReadMore()) return std::exchange(buffer_, "");
    at = buffer_.find(text, seen - std::min(seen, text.size()));
  }
  const std::string received = buffer_.substr(0, at + text.size());
  buffer_.erase(0, received.size());
  return received;
}

bool HttpProbe::IsSilentFor(absl::Duration time) {
  pollfd wait{socket_, POLLIN, 0};
  return buffer_.empty() && poll(&wait, 1, static_cast<int>(absl::ToInt64Milliseconds(time))) == 0;
}

bool HttpProbe::ReadMore() {
  pollfd wait{socket_, POLLIN, 0};
  if (socket_ < 0 || poll(&wait, 1, kWaitMs) != 1) return false;
  char bytes[4096];
  const ssize_t count = recv(socket_, bytes, sizeof(bytes), 0);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(count));
  return true;
}

int StatusOf(const std::string& response) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  if (!response.starts_with(kVersion)) return 0;
  return std::atoi(response.c_str() + kVersion.size());
}

std::string BodyOf(const std::string& response) {
  const std::size_t head_end = response.find(kHeadEnd);
  return head_end == std::string::npos ? "" : response.substr(head_end + kHeadEnd.size());
}

std::string Get(const std::string& target, const std::string& headers) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

std::string Post(const std::string& target, const std::string& body) {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace plimsoll
