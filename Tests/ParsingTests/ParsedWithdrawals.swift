// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

// Withdrawals come from any store of a logbook, so the work for them must grow only linearly with their
// bytes.

extension ParsedContent {
  static let withdrawals: [ParsedContent] = [
    // Each reading is one second after the previous one.
    ParsedContent("PointRuns: single readings", 40_000, pieces([4, 2])) { bytes in
      let runs = try points(bytes)
      #expect(runs.count == bytes.count / 2)
    },
    // Each piece has two readings, one second apart and one second after the previous piece.
    ParsedContent("PointRuns: short stretches", 20_000, pieces([0, 2, 2, 1, 0])) { bytes in
      let runs = try points(bytes)
      #expect(runs.count == bytes.count / 5 * 2)
      #expect(runs.parts(ofBytes: 1000).count > 10)
    },
    ParsedContent("PointRuns: every second of long runs", 5000, pieces([64, 2, 2])) { bytes in
      let runs = try points(bytes)
      let first = try #require(runs.ends).lowerBound
      let others = PointRuns(runs: [.init(first: first, step: 3, count: runs.count / 2)])
      #expect(runs.subtracting(others).count < runs.count)
      #expect(runs.intersection(others).count > 0)
    },
    ParsedContent("PointRuns: a number that does not end", 200_000, pieces([255], after: [0, 2, 2])) {
      bytes in
      #expect(PointRuns(text: PointRuns.text(packing: bytes)) == nil)
    },
    ParsedContent("PointRuns: bytes that are not packed", 200_000, pieces([255])) { bytes in
      #expect(PointRuns(text: Data(bytes).base64EncodedString()) == nil)
    },
    ParsedContent("Withdrawal: many series", 1000, lines { "serial|V|\($0)|cbg|time \(one)" }) { bytes in
      #expect(Withdrawal(fields: fields("points", bytes)) != nil)
    },
    ParsedContent(
      "Withdrawal: many records", 1000, lines { "0a1b2c3d-0000-4000-8000-\(100_000_000_000 + $0) digest" }
    ) { bytes in
      #expect(Withdrawal(fields: fields("records", bytes)) != nil)
    },
  ]

  private static let one = PointRuns([SeriesPoint(position: 1, valueBucket: 0, occurrence: 0)]).text

  /// Repeats one piece.
  private static func pieces(_ piece: [UInt8], after start: [UInt8] = []) -> @Sendable (Int) -> [UInt8] {
    { count in start + repeatElement(piece, count: count).joined() }
  }

  private static func lines(_ line: @escaping @Sendable (Int) -> String) -> @Sendable (Int) -> [UInt8] {
    { count in Array((0..<count).map { line(100_000 + $0) }.joined(separator: "\n").utf8) }
  }

  private static func points(_ bytes: [UInt8]) throws -> PointRuns {
    try #require(PointRuns(text: PointRuns.text(packing: bytes)))
  }

  private static func fields(_ name: String, _ bytes: [UInt8]) -> RecordFields {
    RecordFields([
      "hidden": .flag(true), "subtype": .text("import"),
      "group": .text("0a1b2c3d-0000-4000-8000-000000000001"),
      name: .text(String(decoding: bytes, as: UTF8.self)),
    ])
  }
}
