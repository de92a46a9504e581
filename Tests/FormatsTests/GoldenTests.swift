// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Testing

/// Every sample gives what is beside it. `GLUCOPORT_REWRITE_GOLDEN=1` writes the files again, to be read and
/// committed by hand.
@Suite struct GoldenTests {
  @Test(arguments: Repository.sampleExports)
  func aSampleGivesWhatStandsBesideIt(_ path: String) throws {
    let file = Repository.samples.appending(path: path)
    let expected = URL(filePath: file.path + ".expected.ndjson")
    let lines = try Rendering.lines(of: file, options: Rendering.options(besides: file))
    let text = lines.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["GLUCOPORT_REWRITE_GOLDEN"] == "1" {
      try text.write(to: expected, atomically: true, encoding: .utf8)
    }
    let wanted = try String(contentsOf: expected, encoding: .utf8)
    #expect(text == wanted, "\(path) differs from \(expected.lastPathComponent)")
  }
}
