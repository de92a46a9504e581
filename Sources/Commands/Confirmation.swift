// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A question on the terminal before something that is easily meant otherwise.
enum Confirmation {
  static var canAsk: Bool { Host.isTerminal(0) }

  /// Asks until the line is typed; only `y` and `yes` go on.
  ///
  /// - Throws: `Failure` of category `usage` for any other answer.
  static func require(_ question: String, otherwise nothing: String, _ output: Output) throws {
    output.message("\(question) [y/N]")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw Failure(.usage, "not confirmed; \(nothing)")
    }
  }
}
