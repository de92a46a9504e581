// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import SeededRandom
import Testing

/// Tests truncated samples, as after an interrupted download, of formats that only one app or program writes.
@Suite struct CutSampleTests {
  /// Folders of samples in which each row names what it contains. So the first rows of a truncated file mean
  /// the same as in the complete one.
  private static let folders = [
    "accu-chek-360", "accu-chek-mobile", "contour", "diabetes-m", "fhir", "glimp", "glucometerutils",
    "glucose-buddy", "juggluco", "juggluco-ng", "lingo", "mylife", "openmhealth", "smart-pix", "tandem",
    "xdrip", "cgm-entries", "cronometer", "d1namo", "diaguard", "gluroo", "levels", "nutrisense", "ohiot1dm",
    "shanghai", "sibio", "sibionics",
  ]
  private static let samples = Repository.sampleExports.filter { path in
    folders.contains { path.hasPrefix($0 + "/") } && !path.hasSuffix(".sqlite")
  }

  private static func export(_ bytes: [UInt8], _ given: ExportOptions) throws -> TextExport {
    try TextExport(bytes: bytes) { ($0.unit, $0.dateOrder) = (given.unit, given.dateOrder) }
  }

  private static func options(_ path: String) throws -> ExportOptions {
    try Rendering.options(besides: Repository.samples.appending(path: path))
  }

  @Test func everySampleFolderHasSamplesToTruncate() {
    for folder in Self.folders {
      #expect(Self.samples.contains { $0.hasPrefix(folder + "/") }, "\(folder)")
    }
  }

  /// A truncated number is a different value, which an import would store permanently.
  @Test(arguments: Seeds.share(of: samples, every: 6))
  func aTruncatedSampleHasNoItemThatTheCompleteSampleLacks(_ path: String) throws {
    let (bytes, given) = (try TextExport.sample(path), try Self.options(path))
    let whole = try Self.export(bytes, given)
    let (readings, records) = (whole.readingTexts, whole.recordTexts)
    try #require(!readings.isEmpty || !records.isEmpty)
    for length in TextExport.cuts(of: bytes) {
      let cut: TextExport
      do {
        cut = try Self.export(Array(bytes.prefix(length)), given)
      } catch is Failure {
        // The remaining bytes may lack the header, or a later row that shows the unit or the order of day and
        // month.
        continue
      }
      #expect(cut.readingTexts.isSubset(of: readings), "cut to \(length) bytes")
      #expect(cut.recordTexts.isSubset(of: records), "cut to \(length) bytes")
    }
  }

  @Test(arguments: samples) func lineEndsAndByteOrderMarksDoNotChangeItemsOfASample(_ path: String) throws {
    let bytes = try TextExport.sample(path)
    // A sample in another encoding than UTF-8 is skipped, because a change of line ends would damage it.
    guard let text = String(bytes: bytes, encoding: .utf8), !text.contains("\0") else {
      #expect(path.contains("utf16") || path.contains("windows1252") || path.contains("-de."), "\(path)")
      return
    }
    let given = try Self.options(path)
    let whole = try Self.export(bytes, given)
    let lines = text.replacing("\r\n", with: "\n")
    let marked = lines.first == "\u{FEFF}" ? lines : "\u{FEFF}" + lines
    // A record with a note of several lines is left out, because the note contains the line ends of its file.
    let records = whole.recordTexts.filter { !$0.contains(#"\n"#) && !$0.contains(#"\r"#) }
    for (name, form) in [
      ("CR LF", Array(lines.replacing("\n", with: "\r\n").utf8)), ("LF", Array(lines.utf8)),
      ("mark", Array(marked.utf8)), ("blank lines", Array((lines + "\n\r\n  \n").utf8)),
      ("UTF-16", Self.utf16(marked)),
    ] {
      let other = try Self.export(form, given)
      #expect(other.readingTexts == whole.readingTexts, "\(name)")
      #expect(other.recordTexts.isSuperset(of: records), "\(name)")
      #expect(other.recordTexts.count == whole.recordTexts.count, "\(name)")
      #expect(other.rejections.count == whole.rejections.count, "\(name)")
      #expect(other.skipped == whole.skipped && !other.isTruncated, "\(name)")
    }
  }

  private static func utf16(_ text: String) -> [UInt8] {
    text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }

  // MARK: A last cell that is used

  /// The columns are not in the app's order, as after a change in a spreadsheet.
  @Test(arguments: [
    ("Timestamp,Date,SensorSerial,Unit,Value\n", "1779000000000,2026-05-17,S1,mg/dL,11", "7"),
    (
      "DateTimeFormatted,us_units,is_sensor,timezone,glucose\n",
      "2026-05-17 08:00:00,true,false,Europe/Madrid,11", "8"
    ),
    (
      "Date,Time,Insulin1 (units),Insulin2 (units),bG (mg/dL)\n", "05/17/2026,08:00,,,11", "2"
    ),
    (
      "Device Type,Serial Number,Description,Event Date Time,BG (mg/dL)\n",
      "Pump,1,BG,2026-05-05T07:30:00,11", "8"
    ),
    ("Sensorid\tnr\tUnixTime\tYYYY-mm-ddTHH:MM:SS\tTZ\tMin\tmg/dL\n", "S\t1\t1779000000\tx\t2\t1\t11", "0"),
  ])
  func aTruncatedLastCellOfASampleIsNotReadAsAValue(_ header: String, _ row: String, _ rest: String) throws {
    let cut = try TextExport(header + row)
    #expect(cut.readings.isEmpty && cut.rejections.isEmpty && cut.isTruncated)
    let whole = try TextExport(header + row + rest + "\n")
    #expect(whole.readings.map { $0.measurement.quantity?.number } == [Double("11" + rest)])
    #expect(!whole.isTruncated)
  }

  @Test(arguments: [
    (
      "DateTimeFormatted,glucose,us_units,is_sensor,timezone,basal\n",
      "2026-05-17 08:00:00,110,true,false,Europe/Madrid,1"
    ),
    (
      "Date,Time,bG (mg/dL),Insulin1 (units),Insulin2 (units),Insulin Rate (units/hour)\n",
      "05/17/2026,08:00,110,,,0.7"
    ),
  ])
  func aTruncatedLastDoseOfASampleIsNotReadAsADose(_ header: String, _ row: String) throws {
    let cut = try TextExport(header + row)
    #expect(cut.readings.isEmpty && cut.records.isEmpty && cut.isTruncated)
    let whole = try TextExport(header + row + "5\n")
    #expect(whole.readings.count == 1 && whole.records.count == 1 && !whole.isTruncated)
  }

  // MARK: Lingo, which ends without a line end

  private static let lingo = "Time of Glucose Reading [T=(local time) +/- (time zone offset)], Measurement"

  private static func lingo(_ unit: String, _ values: [String]) -> String {
    let rows = values.enumerated().map { "2026-05-01T07:\(45 - $0)+01:00,\($1)" }
    return ([lingo + "(\(unit))"] + rows).joined(separator: "\n")
  }

  @Test(arguments: [
    ("mg/dL", ["104", "52", "10"]), ("mg/dL", ["10"]), ("mg/dL", ["52"]), ("mmol/L", ["5"]),
    ("mmol/L", ["5.8", "1"]), ("mmol/L", ["5."]), ("mmol/L", ["5.8"]), ("mg/dL", ["104", ""]),
  ])
  func aLastValueThatMayHaveFurtherDigitsIsTreatedAsTruncated(_ unit: String, _ values: [String]) throws {
    let cut = try TextExport(Self.lingo(unit, values))
    #expect(cut.readings.count == values.count - 1 && cut.isTruncated)
    let whole = try TextExport(Self.lingo(unit, values) + "\n")
    #expect(!whole.isTruncated)
  }

  @Test(arguments: [
    ("mg/dL", ["104", "98"]), ("mg/dL", ["104"]), ("mg/dL", ["55", "54", "52"]),
    ("mmol/L", ["5.8", "10.4"]), ("mg/dL", ["104", "LOW"]),
  ])
  func aLastValueThatIsCertainlyCompleteIsRead(_ unit: String, _ values: [String]) throws {
    let whole = try TextExport(Self.lingo(unit, values))
    #expect(whole.readings.count == values.count && !whole.isTruncated)
  }

  // MARK: glucometerutils, which escapes no quote

  private static let first = #""2026-05-14 07:30:00","111.00","","blood sample","""# + "\n"
  private static let second = #""2026-05-14 07:31:00","112.00","","blood sample","the "#

  @Test(arguments: [#"""#, #""sweet"#, #""sweet""#, #""sweet" tea"#, #""sweet" tea""#])
  func aCommentAtTheEndOfAnInputMayBeTruncated(_ end: String) throws {
    let cut = try TextExport(Self.first + Self.second + end)
    #expect(cut.readings.count == 1 && cut.records.isEmpty && cut.isTruncated)
  }

  @Test func aLastRowWithALineEndOrWithoutACommentIsComplete() throws {
    let whole = try TextExport(Self.first + Self.second + #""sweet" tea""# + "\n")
    #expect(whole.readings.count == 2 && !whole.isTruncated)
    #expect(whole.recordTexts == [#"note 2026-05-14T07:31:00 {"text":"the \"sweet\" tea"}"#])
    let bare = try TextExport(String(Self.first.dropLast()))
    #expect(bare.readings.count == 1 && !bare.isTruncated)
  }

  @Test func aCarriageReturnCountsAsTheEndOfALastLine() throws {
    let rows = (0..<4).map {
      #""2026-05-14 07:3\#($0):00","11\#($0).00","","blood sample","a "quote""""#
    }
    for end in ["\n", "\r\n", "\r"] {
      let export = try TextExport(rows.map { $0 + end }.joined())
      #expect(export.readings.map { $0.measurement.quantity?.number } == [110, 111, 112, 113], "\(end.utf8)")
      #expect(export.records.count == 4 && export.rejections.isEmpty, "\(end.utf8)")
    }
  }
}
