// An unknown authority, and certificates that it has signed, created for each test.

import Foundation
import TestSupport
import Testing

/// Owns a workspace with its certificate in `authority.pem`.
final class Authority {
  let workspace: Workspace

  private static let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

  init() throws {
    workspace = try Workspace()
    try perform(
      "openssl req -x509 \(Self.key) -keyout authority.key -out authority.pem -days 2 -subj /CN=test"
    )
  }

  /// A server block for nginx, on `PORT`, with a certificate for this name. `days` from now on, or to
  /// now if they are negative.
  func server(named name: String, days: Int = 2, more: String = "") throws -> String {
    let file = "\(name)-\(days)"
    try workspace.write("subjectAltName=DNS:\(name)\n", to: "\(file).ext")
    try perform(
      """
      openssl req -new \(Self.key) -keyout \(file).key -out \(file).csr -subj /CN=\(name)
      openssl x509 -req -in \(file).csr -out \(file).pem -CA authority.pem -CAkey authority.key \
        -CAcreateserial -days \(days) -extfile \(file).ext
      """)
    return """
      listen 127.0.0.1:PORT ssl \(more);
      ssl_certificate \(file).pem; ssl_certificate_key \(file).key;
      """
  }

  /// A folder with the authority's certificate, as OpenSSL looks for it.
  func makeFolder(_ name: String) throws {
    try perform(
      """
      mkdir \(name)
      cp authority.pem "\(name)/$(openssl x509 -in authority.pem -noout -hash).0"
      """)
  }

  private func perform(_ script: String) throws {
    let folder = quotedForShell(workspace.folder.path)
    let child = try Child(script: "set -e; cd \(folder); exec >openssl.out 2>&1\n\(script)")
    try #require(child.wait() == 0, "\(workspace.content("openssl.out"))")
  }
}
