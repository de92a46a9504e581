// SPDX-License-Identifier: Apache-2.0

/// Where the secret of a login comes from. The secret itself is never stored: it is read for each run.
package enum TokenSource: Hashable, Sendable {
  /// The first line of a file that nobody else may read, by its absolute path.
  case file(String)
  /// The first line that a command of the shell prints.
  case command(String)
}
