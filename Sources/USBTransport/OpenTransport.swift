// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// A transport that holds a device until it is closed.
public protocol OpenTransport: Transport {
  /// Restores everything: the line's settings, the interfaces, and the kernel's drivers that were detached.
  ///
  /// Further calls do nothing.
  ///
  /// - Throws: `Failure` if something could not be restored; everything else was.
  func close() throws
}
