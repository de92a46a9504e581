// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOSSL

/// The certificate for new connections.
actor ServerCertificate {
  private let files: ServerTLS
  private(set) var context: NIOSSLContext

  /// Reads the files.
  ///
  /// - Throws: `Failure`, as `ServerTLS` does.
  init(_ files: ServerTLS) throws(Failure) {
    self.files = files
    context = try files.context()
  }

  /// Reads the files again. Open connections keep their certificate. If the files are unusable, new connections also
  /// keep the old one.
  ///
  /// - Throws: `Failure`, as `ServerTLS` does.
  func reload() throws(Failure) { context = try files.context() }
}
