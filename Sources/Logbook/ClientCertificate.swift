// SPDX-License-Identifier: Apache-2.0

/// The files by which this computer proves its identity to a remote. The store only keeps their paths.
package struct ClientCertificate: Hashable, Sendable {
  /// The certificate and those of its signers, in PEM.
  package let certificateFile: String
  /// Its private key in PEM, which only its owner may read.
  package let keyFile: String

  /// A certificate and its key, by their absolute paths.
  package init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}
