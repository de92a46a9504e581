// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a JSON text, for the one who wrote it. Holds no value of it.
public struct JSONError: Error, Hashable, Sendable {
  /// The byte at which it was noticed, from 0.
  public let offset: Int
  /// What is wrong there.
  public let reason: String
}
