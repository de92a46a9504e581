// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Shows how far long work is, on a terminal only.
final class ProgressMeter {
  private let output: Output
  private let isShown: Bool
  private var hasWritten = false

  init(_ output: Output, isQuiet: Bool) {
    self.output = output
    isShown = !isQuiet && Host.isTerminal(STDERR_FILENO)
  }

  func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    hasWritten = true
    output.progress(text())
  }

  func clear() {
    if hasWritten { output.progress("") }
  }
}

/// A count with commas between thousands.
func grouped(_ number: Int) -> String {
  var digits = String(abs(number))
  var groups: [Substring] = []
  while digits.count > 3 {
    groups.insert(digits.suffix(3), at: 0)
    digits = String(digits.dropLast(3))
  }
  groups.insert(Substring(digits), at: 0)
  return (number < 0 ? "-" : "") + groups.joined(separator: ",")
}

/// A count with its noun: `1 reading`, `2 readings`, or with the word for many that is given.
func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
  "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
}
