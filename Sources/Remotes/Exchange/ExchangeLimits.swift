// SPDX-License-Identifier: Apache-2.0

import LogbookAPI

/// The limits of one exchange with a remote.
struct ExchangeLimits: Sendable {
  /// The time until a connection exists.
  var connect = Duration.seconds(10)
  /// The time without a byte in either direction.
  var idle = Duration.seconds(30)
  /// The total time. A full batch takes 20 s at 16 KiB/s.
  var whole = Duration.seconds(180)
  /// The maximum size of a body, compressed and decompressed.
  var bodyBytes = WireProtocol.maxBodyBytes
}
