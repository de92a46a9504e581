// SPDX-License-Identifier: Apache-2.0

import LogbookStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Shows how far an import is, on a terminal only.
final class ProgressMeter {
  private let output: Output
  private let name: String
  private let isShown: Bool
  private var hasWritten = false

  init(_ output: Output, name: String, isQuiet: Bool) {
    self.output = output
    self.name = name
    isShown = !isQuiet && Host.isTerminal(STDERR_FILENO)
  }

  func show(_ counts: IngestCounts, _ progress: (done: Int64, total: Int64?)) {
    guard isShown else { return }
    hasWritten = true
    let part =
      progress.total.map { $0 > 0 ? "\(min(100, progress.done * 100 / $0)) %" : "" }
      ?? "\(progress.done / 1024) KiB"
    output.progress("\(displayed(name)): \(part) · \(grouped(counts.readings)) readings")
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
