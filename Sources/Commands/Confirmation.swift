// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A question on the terminal before an action that a person may not intend.
enum Confirmation {
  static var canAsk: Bool { Host.isTerminal(0) }

  /// Asks, and reads one line; only `y` and `yes` confirm.
  ///
  /// - Throws: `Failure` of category `usage` for any other answer.
  static func require(_ question: String, otherwise nothing: String, _ output: Output) throws {
    output.message("\(question) [y/N]")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw Failure(.usage, "not confirmed; \(nothing)")
    }
  }
}
