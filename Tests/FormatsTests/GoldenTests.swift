// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Testing

/// Every sample has the result in the file next to it. `GLUCOPORT_REWRITE_GOLDEN=1` writes these files again,
/// so that a person can review and commit the changes.
@Suite struct GoldenTests {
  @Test(arguments: Repository.sampleExports)
  func eachSampleHasTheExpectedNDJSONNextToIt(_ path: String) throws {
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
