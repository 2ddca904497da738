#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace plimsoll {

// Authorities and certificates, made with openssl in a folder. Thread-compatible.
class Certificates {
 public:
  explicit Certificates(std::string folder) : folder_(std::move(folder)) {}

  void MakeAuthority(const std::string& name) const {
    Run("openssl req -x509 " + kNewKey + " -keyout " + name + ".key -out " + name +
        ".pem -subj /CN=" + name + " -days 2");
  }
  // NAME.pem and NAME.key; with negative days it has expired.
  void Issue(const std::string& name, const std::string& authority, const std::string& san,
             int days = 2) const {
    std::ofstream(Path(name + ".ext")) << "subjectAltName=" << san << "\n";
    Run("openssl req " + kNewKey + " -keyout " + name + ".key -out " + name + ".csr -subj /CN=x");
    Run("openssl x509 -req -in " + name + ".csr -CA " + authority + ".pem -CAkey " + authority +
        ".key -CAcreateserial -out " + name + ".pem -extfile " + name + ".ext -days " +
        std::to_string(days));
  }
  std::string Path(const std::string& file) const { return folder_ + "/" + file; }

 private:
  void Run(const std::string& command) const {
    const std::string line = "cd " + folder_ + " && " + command + " >openssl.log 2>&1";
    if (std::system(line.c_str()) == 0) return;
    const std::ifstream log(Path("openssl.log"));
    ADD_FAILURE() << command << "\n" << log.rdbuf();
  }

  const std::string kNewKey = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
  const std::string folder_;
};

}  // namespace plimsoll
