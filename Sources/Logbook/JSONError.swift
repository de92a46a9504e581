// SPDX-License-Identifier: Apache-2.0

/// An error in a JSON text, for its author. It contains none of the text's values.
package struct JSONError: Error, Hashable, Sendable {
  /// The byte at which it was found, from 0.
  package let offset: Int
  /// What is wrong there.
  package let reason: String
}
