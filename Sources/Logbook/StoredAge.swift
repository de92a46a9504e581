// SPDX-License-Identifier: Apache-2.0

/// The age of a time that this computer stored, such as that of the last backup.
package enum StoredAge {
  /// The tolerated difference in seconds between two clocks: two minutes, as for the clocks of meters.
  package static let toleratedSeconds: Int64 = 120

  /// The age in seconds. It is nil, and so unknown, if the time is in the future: the clock was fast when the
  /// time was stored, or is slow at present.
  ///
  /// - Parameters:
  ///   - time: the stored time in UTC seconds.
  ///   - now: the host's clock in UTC seconds.
  package static func seconds(of time: Int64, now: Int64) -> Int64? {
    let age = now - time
    return age >= -toleratedSeconds ? max(0, age) : nil
  }
}
