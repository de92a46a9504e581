// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension TokenSource {
  /// The most bytes that a file or a command may give.
  static let maxBytes = 16 << 10

  /// Reads the token.
  ///
  /// - Parameter limit: how long a command may take.
  /// - Throws: `Failure`: `missingInput` without the file, `permission` for a file that others may read and for a
  ///   command that fails, `temporary` for one that takes too long, `configuration` for what is no token.
  package func token(within limit: Duration = .seconds(30)) async throws(Failure) -> Token {
    switch self {
    case .file(let path):
      try Token(
        firstLineOf: RemoteFile.secret(path, as: "token file"), origin: "\(path): the token file")
    case .command(let command):
      try Token(
        firstLineOf: await TokenCommand.run(command, within: limit), origin: "the output of the token command"
      )
    }
  }
}
