// SPDX-License-Identifier: Apache-2.0

/// The origin of the secret of a login. The secret is never stored, but read for each run.
package enum TokenSource: Hashable, Sendable {
  /// The first line of a file that only its owner may read, by its absolute path.
  case file(String)
  /// The first line of the output of a shell command.
  case command(String)
}
