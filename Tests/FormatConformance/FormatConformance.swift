// SPDX-License-Identifier: Apache-2.0

import Formats
package import Foundation
import Logbook
import TestArchives
import Testing

/// Checks each format with the samples in the folder that has its id. The tests of each module with formats
/// run these checks.
package struct FormatConformance: Sendable {
  /// The rules for each format.
  package enum Rule: String, CaseIterable, Sendable {
    case hasASampleWithReadings
    case isDetectedThroughAPipeAndGzip
    case readsAHeaderWithoutRowsAsAnEmptyExport
    case readsAnEmptyListAsAnEmptyExport
    case refusesTheSamplesOfOtherFormats
    case readsTheSameInAnotherEncoding
    case readsTheSameWithOtherLineEnds
    case addsNoReadingForALineBeforeTheHeader
    case returnsNoImplausibleAmount
    case storesNothingOfARowWithTooManyCells
  }

  /// The ids of the formats.
  package let formats: [String]
  /// The format that detection uses if no other format recognises an input. It also reads tables of other
  /// formats.
  private let lastResort: String
  /// The formats whose tables have no header.
  private let headerless: Set<String>
  /// The formats whose rows may have more cells than their header.
  private let unlimited: Set<String>
  private let folder: URL

  /// - Parameter samples: the folder with one folder for each format.
  package init(
    formats: [String], lastResort: String, headerless: Set<String> = [], unlimited: Set<String> = [],
    samples: URL
  ) {
    self.formats = formats
    self.lastResort = lastResort
    self.headerless = headerless
    self.unlimited = unlimited
    folder = samples
  }

  /// The paths of all samples below their folder.
  package var samplePaths: [String] { SampleExport.paths(in: folder) }

  /// Checks that each folder of samples belongs to a format, and that more than one format has JSON.
  package func checkFolders() throws {
    #expect(Set(samplePaths.compactMap { $0.split(separator: "/").first.map(String.init) }) == Set(formats))
    #expect(try formats.filter { try samples(of: $0).contains { $0.isJSON } }.count > 1)
  }

  /// Checks one rule with the samples of one format.
  package func check(_ rule: Rule, of format: String) throws {
    let samples = try samples(of: format)
    try #require(!samples.isEmpty)
    switch rule {
    case .hasASampleWithReadings: #expect(try samples.contains { try !$0.read().readings.isEmpty })
    case .isDetectedThroughAPipeAndGzip: try checkDetection(of: samples, format)
    case .readsAHeaderWithoutRowsAsAnEmptyExport: try checkHeaders(of: samples, format)
    case .readsAnEmptyListAsAnEmptyExport: try checkEmptyList(of: samples, format)
    case .refusesTheSamplesOfOtherFormats: try checkRefusals(by: format)
    case .readsTheSameInAnotherEncoding: try checkEncodings(of: samples)
    case .readsTheSameWithOtherLineEnds: try checkLineEnds(of: samples)
    case .addsNoReadingForALineBeforeTheHeader: try checkLinesInFront(of: samples)
    case .returnsNoImplausibleAmount: try checkAmounts(of: samples)
    case .storesNothingOfARowWithTooManyCells: try checkLongRows(of: samples, format)
    }
  }

  private func samples(of format: String) throws -> [SampleExport] {
    try SampleExport.all(of: format, in: folder)
  }
}

extension FormatConformance {
  /// Checks that a format itself rejects implausible amounts, so that no item has one.
  private func checkAmounts(of samples: [SampleExport]) throws {
    for sample in samples {
      let batch = try sample.batch()
      for reading in batch.readings { #expect(PlausibleAmounts.fault(of: reading) == nil, "\(sample.path)") }
      for record in batch.records where record.guid == nil {
        #expect(PlausibleAmounts.fault(of: record.fields, record.kind) == nil, "\(sample.path)")
      }
    }
  }

  private func checkDetection(of samples: [SampleExport], _ format: String) throws {
    for sample in samples {
      let whole = try sample.read()
      #expect(whole.format == format, "\(sample.path)")
      #expect(try sample.readPiped(sample.bytes) == whole, "\(sample.path) through a pipe")
      if sample.isPacked { continue }
      let packed = try Deflate.gzip(sample.bytes)
      #expect(try sample.read(packed) == whole, "\(sample.path) packed")
      #expect(try sample.readPiped(packed) == whole, "\(sample.path) packed through a pipe")
    }
  }

  private func checkHeaders(of samples: [SampleExport], _ format: String) throws {
    var count = 0
    for sample in samples where !sample.isPacked {
      guard let bytes = try sample.upToHeader() else { continue }
      count += 1
      let result = try sample.read(bytes)
      #expect(result.format == format && result.items.isEmpty && result.end == .whole, "\(sample.path)")
    }
    // A format without any header must be listed in `headerless`, or all its samples are JSON or XML.
    if count == 0 { #expect(headerless.contains(format) || samples.allSatisfy { $0.isWithoutHeader }) }
    if headerless.contains(format) { #expect(count == 0) }
  }

  /// A format without JSON refuses the empty list.
  private func checkEmptyList(of samples: [SampleExport], _ format: String) throws {
    let list = try ScratchFile("[]\n")
    if samples.contains(where: \.isJSON) {
      #expect(try list.lines { $0.format = format }.count == 1)
    } else {
      #expect(throws: Failure.self) { try list.lines { $0.format = format } }
    }
  }

  private func checkRefusals(by format: String) throws {
    for other in formats where other != format && format != lastResort {
      for sample in try samples(of: other) {
        // An empty list is valid in every format with JSON.
        if sample.isJSON, try sample.read().items.isEmpty { continue }
        #expect(throws: Failure.self, "\(sample.path) as \(format)") {
          try sample.read { $0.format = format }
        }
      }
    }
  }

  /// With an additional cell in the middle of a row, the cells after it are under wrong names.
  private func checkLongRows(of samples: [SampleExport], _ format: String) throws {
    if unlimited.contains(format) { return }
    var count = 0
    for sample in samples where !sample.isPacked {
      for (line, bytes) in try sample.longRows() {
        count += 1
        do {
          let items = try sample.read(bytes).items
          #expect(!items.contains { $0.hasPrefix(#"{"line":\#(line),"#) }, "\(sample.path):\(line)")
        } catch let failure as Failure {
          #expect(failure.category == .badInput, "\(sample.path):\(line): \(failure.message)")
        }
      }
    }
    if count == 0 { #expect(headerless.contains(format) || samples.allSatisfy { $0.isWithoutHeader }) }
  }

  private func checkEncodings(of samples: [SampleExport]) throws {
    for sample in samples where !sample.isPacked {
      let whole = try sample.read()
      let text = sample.text
      let mark: [UInt8] = [0xFF, 0xFE]
      let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      #expect(try sample.read(mark + wide) == whole, "\(sample.path) in UTF-16")
      #expect(try sample.read(Array("\u{FEFF}\(text)".utf8)) == whole, "\(sample.path) in UTF-8 with a mark")
    }
  }

  private func checkLineEnds(of samples: [SampleExport]) throws {
    for sample in samples where !sample.isPacked {
      // A line end inside a cell is part of its text, and is changed with the others.
      let whole = try sample.read().withPlainLineEnds
      let plain = sample.text.replacing("\r\n", with: "\n")
      #expect(try sample.read(Array(plain.utf8)).withPlainLineEnds == whole, "\(sample.path) with LF")
      let paired = plain.replacing("\n", with: "\r\n")
      #expect(try sample.read(Array(paired.utf8)).withPlainLineEnds == whole, "\(sample.path) with CRLF")
    }
  }

  private func checkLinesInFront(of samples: [SampleExport]) throws {
    for sample in samples where !sample.isPacked {
      let whole = Set(try sample.read().readings)
      for line in ["Exported for you by an app", "a,b,c,d", "\"never closed", "[", "2026-05-06"] {
        do {
          let readings = try sample.read(Array("\(line)\n\(sample.text)".utf8)).readings
          #expect(Set(readings).subtracting(whole).isEmpty, "\(sample.path) behind '\(line)'")
        } catch let failure as Failure {
          #expect(failure.category == .badInput, "\(sample.path) behind '\(line)': \(failure.message)")
        }
      }
    }
  }
}
