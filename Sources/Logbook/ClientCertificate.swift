// SPDX-License-Identifier: Apache-2.0

/// The files by which this computer proves to a remote who it is. The store keeps their paths alone.
package struct ClientCertificate: Hashable, Sendable {
  /// The certificate and those that signed it, PEM.
  package let certificateFile: String
  /// Its private key, PEM, which nobody else may read.
  package let keyFile: String

  /// A certificate and its key, by their absolute paths.
  package init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}
