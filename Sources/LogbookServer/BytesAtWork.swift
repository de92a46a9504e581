// SPDX-License-Identifier: Apache-2.0

/// Bounds the bytes of all bodies that are at work at one time, so that many clients do not exhaust the memory.
actor BytesAtWork {
  private let maxBytes: Int
  private var taken = 0

  init(maxBytes: Int) { self.maxBytes = maxBytes }

  /// Takes so many bytes; false when there is no room for them. A body alone always has room.
  func take(_ bytes: Int) -> Bool {
    guard taken == 0 || taken + bytes <= maxBytes else { return false }
    taken += bytes
    return true
  }

  func release(_ bytes: Int) { taken -= bytes }
}
