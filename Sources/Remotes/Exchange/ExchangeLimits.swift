// SPDX-License-Identifier: Apache-2.0

import LogbookAPI

/// What one exchange with a remote may take.
struct ExchangeLimits: Sendable {
  /// Until there is a connection.
  var connect = Duration.seconds(10)
  /// Without a byte in either direction.
  var idle = Duration.seconds(30)
  /// The whole exchange. A full batch takes 20 s at 16 KiB/s.
  var whole = Duration.seconds(180)
  /// The most bytes of a body, as sent and as unpacked.
  var bodyBytes = Wire.maxBodyBytes
}
