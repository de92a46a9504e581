// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import Formats

/// Tests that JSON in another notation has the same items. A service may change its notation without notice,
/// and no reading may be lost then.
@Suite struct JSONShapeTests {
  private static let folders: Set<String> = [
    "carelink-cloud", "dexcom-api", "dexcom-share", "fhir", "librelinkup", "openmhealth",
  ]
  private static let samples = Repository.sampleExports.filter { path in
    folders.contains(String(path.prefix { $0 != "/" })) && path.hasSuffix("json")
  }

  /// The items of an export, without their order.
  private struct Contents: Equatable {
    let format: String?
    let readings: Set<String>
    let records: Set<String>
    let rejections: [String]
    let skipped: [String: Int]

    init(_ export: TextExport) {
      format = export.decision("format")
      readings = export.readingTexts
      records = export.recordTexts
      rejections = export.rejections.map(\.reason).sorted()
      skipped = export.skipped
    }
  }

  private static func trees(_ path: String) throws -> [JSONTree] {
    try JSONTree.documents(String(decoding: TextExport.sample(path), as: UTF8.self))
  }

  private static func contents(
    _ trees: [JSONTree], _ change: (JSONTree) -> String = { $0.text() }
  ) throws -> Contents {
    Contents(try TextExport(trees.map { change($0) + "\n" }.joined()))
  }

  private static func plain(_ path: String) throws -> Contents {
    Contents(try TextExport(bytes: TextExport.sample(path)))
  }

  @Test func everyJSONFormatHasSamples() {
    #expect(Set(Self.samples.map { String($0.prefix { $0 != "/" }) }) == Self.folders)
  }

  @Test(arguments: samples) func aRewrittenJSONSampleHasTheSameItems(_ path: String) throws {
    let plain = try Self.plain(path)
    #expect(try Self.contents(Self.trees(path)) == plain)
    #expect(!plain.readings.isEmpty || !plain.records.isEmpty)
  }

  @Test(arguments: samples) func theOrderOfJSONMembersDoesNotChangeItems(_ path: String) throws {
    #expect(try Self.contents(Self.trees(path)) { $0.membersReversed.text() } == Self.plain(path))
  }

  @Test(arguments: samples) func theOrderOfJSONObjectsDoesNotChangeItems(_ path: String) throws {
    // If each line of a file is an object, the order of the lines is reversed.
    let trees = try Self.trees(path)
    #expect(
      try Self.contents(trees.count > 1 ? trees.reversed() : trees) { $0.itemsReversed.text() }
        == Self.plain(path))
  }

  @Test(arguments: samples) func unknownJSONMembersDoNotChangeItems(_ path: String) throws {
    let plain = try Self.plain(path)
    let other = try Self.contents(Self.trees(path)) { $0.withStrangers.text() }
    #expect(other.readings == plain.readings && other.records == plain.records)
    #expect(other.format == plain.format && other.rejections == plain.rejections)
  }

  @Test(arguments: samples) func spacesAndLineBreaksInJSONDoNotChangeItems(_ path: String) throws {
    // NDJSON needs each value on one line, so it gets no line breaks.
    let indent = path.hasSuffix(".ndjson") ? nil : 0
    #expect(try Self.contents(Self.trees(path)) { $0.text(indent: indent) } == Self.plain(path))
    let tight = try Self.contents(Self.trees(path)) { $0.text() }
    #expect(tight == (try Self.plain(path)))
  }

  /// Some services write `mg\/dL`, and some escape all letters outside of ASCII.
  @Test(arguments: samples) func slashesAndLettersInJSONMayBeEscaped(_ path: String) throws {
    #expect(try Self.contents(Self.trees(path)) { $0.text(escapes: true) } == Self.plain(path))
  }

  /// Each member with a name such as `value` is replaced by another type. No other member may be read instead
  /// of it.
  @Test(arguments: samples) func aJSONMemberOfAnotherTypeProducesNoDifferentReading(_ path: String) throws {
    let plain = try Self.plain(path)
    for replacement in ["null", "{}", "[]", "\"\"", "true"] {
      for name in ["value", "Value", "sg", "ValueInMgPerDl", "valueQuantity", "blood_glucose"] {
        let trees = try Self.trees(path).map { $0.replacing(name, with: .other(replacement)) }
        do {
          let contents = try Self.contents(trees)
          let times = Set(plain.readings.map(Self.valueless))
          #expect(Set(contents.readings.map(Self.valueless)).isSubset(of: times), "\(name): \(replacement)")
          let numbers = contents.readings.subtracting(plain.readings).filter { !$0.hasSuffix("beyond") }
          #expect(numbers.isEmpty, "\(name): \(replacement)")
        } catch let failure as Failure {
          #expect(failure.category == .badInput)
        }
      }
    }
  }

  /// The text of a reading without its value.
  private static func valueless(_ reading: String) -> String {
    reading.split(separator: " ").dropLast().joined(separator: " ")
  }
}

extension JSONTree {
  /// The tree with another value for each member with this name.
  fileprivate func replacing(_ name: String, with replacement: JSONTree) -> JSONTree {
    switch self {
    case .object(let members):
      .object(
        members.map { ($0.name, $0.name == name ? replacement : $0.value.replacing(name, with: replacement)) }
      )
    case .array(let items): .array(items.map { $0.replacing(name, with: replacement) })
    case .string, .other: self
    }
  }
}
