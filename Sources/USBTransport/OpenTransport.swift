// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// A transport that holds a device, until it is closed.
public protocol OpenTransport: Transport {
  /// Releases everything: the line's settings, the interfaces, and the kernel's drivers that were detached.
  ///
  /// Closing twice does nothing more.
  ///
  /// - Throws: `Failure` when something cannot be given back; everything else is.
  func close() throws
}
