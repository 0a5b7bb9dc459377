// The trusted certificate authorities, found as the curl command finds them, because libcurl itself
// reads no variable.

import Diagnostics

struct TrustStore: Hashable, Sendable {
  /// A file of authority certificates in PEM, in place of the system's; nil for those.
  var file: String?
  /// A directory with one certificate in each file, named by its hash.
  var folder: String?

  static let ofEnvironment = TrustStore()

  init(environment: (String) -> String? = environmentValue) {
    func path(_ name: String) -> String? {
      environment(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    if let bundle = path("CURL_CA_BUNDLE") {
      file = bundle
    } else {
      file = path("SSL_CERT_FILE")
      folder = path("SSL_CERT_DIR")
    }
  }
}
