// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOSSL

/// The certificate that new connections get.
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

  /// Reads the files again. Connections keep what they began with, and all do where the files cannot be used.
  ///
  /// - Throws: `Failure`, as `ServerTLS` does.
  func reload() throws(Failure) { context = try files.context() }
}
