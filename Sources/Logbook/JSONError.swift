// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a JSON text, for the one who wrote it. Holds no value of it.
package struct JSONError: Error, Hashable, Sendable {
  /// The byte at which it was noticed, from 0.
  package let offset: Int
  /// What is wrong there.
  package let reason: String
}
