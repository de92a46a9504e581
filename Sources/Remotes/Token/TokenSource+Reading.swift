// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension TokenSource {
  /// The maximum output of a file or a command in bytes.
  static let maxBytes = 16 << 10

  /// Reads the token.
  ///
  /// - Parameter limit: the time limit of a command.
  /// - Throws: `Failure`: `missingInput` without the file, `permission` for a file that others can read and for a
  ///   command that fails. `temporary` after the time limit, `configuration` for an invalid token.
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
