// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import Testing

@testable import Formats

/// Tests which format reads an input.
@Suite struct DetectionTests {
  /// A format that recognises tables with a certain first word, but cannot read them.
  private struct Stubborn: ExportFormat {
    static let id = "stubborn"
    static let title = "stubborn table"
    static let summary = "nothing"
    let decisions: [Decision] = []

    static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Void>>? {
      head.firstRow { $0.first == "stubborn" }?.recognition
    }
    init(_ found: Recognition<HeaderRow<Void>>, head: InputHead, options: ExportOptions) throws {
      throw Failure(.badInput, "the stubborn table has \(found.header.cells.count) columns")
    }
    mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict { .data }
  }

  private func format(
    _ text: String, among formats: [any ExportFormat.Type] = FormatRegister.formats,
    _ change: (inout ExportOptions) -> Void = { _ in }
  ) throws -> String {
    let file = try ScratchFile(text)
    var options = try Rendering.options()
    change(&options)
    let input = try Input(FileSource(path: file.url.path))
    return type(of: try Detection.parser(for: input, options: options, among: formats).parser).id
  }

  private func claims<Format: ExportFormat>(_ text: String, _ type: Format.Type) throws -> Bool {
    try recognises(InputHead(text: Array(text.utf8), isWhole: true), type)
  }

  private func recognises<Format: ExportFormat>(_ head: InputHead, _ type: Format.Type) throws -> Bool {
    type.recognise(head, options: try Rendering.options()) != nil
  }

  // MARK: Order of detection

  @Test func theNextFormatIsTriedIfOneFindsNoHeaderInAnInput() throws {
    let text = LibreExport.header("mg/dL") + "\n" + LibreExport.row("13-04-2025 08:00", 0, "99") + "\n"
    #expect(try format(text, among: [Stubborn.self, LibreViewFormat.self]) == "libreview")
  }

  @Test func afterOneFormatRecognisesAnInputNoOtherIsTried() throws {
    let failure = #expect(throws: Failure.self) {
      _ = try format("stubborn,time,glucose\n1,2,3\n", among: [Stubborn.self, GenericFormat.self])
    }
    #expect(failure?.category == .badInput)
    #expect(failure?.message.hasSuffix(": the stubborn table has 3 columns") == true)
  }

  @Test func anUnrecognisedInputIsRefusedWithTheListOfFormats() throws {
    let unrecognised = #expect(throws: UnrecognisedInput.self) {
      _ = try format("a,b\n1,2\n", among: [Stubborn.self])
    }
    #expect(unrecognised?.failure.category == .badInput)
    #expect(unrecognised?.reason.contains("'glucoport formats'") == true)
  }

  @Test func onlyTheGivenFormatIsTried() throws {
    let text = LibreExport.header("mg/dL") + "\n"
    let unrecognised = #expect(throws: UnrecognisedInput.self) {
      _ = try format(text, among: [Stubborn.self, LibreViewFormat.self]) { $0.format = "stubborn" }
    }
    #expect(unrecognised?.reason == "the input is not stubborn table")
  }

  // MARK: One format each

  @Test(arguments: Repository.sampleExports) func aSampleIsRecognisedByExactlyOneFormat(_ path: String) throws
  {
    let url = Repository.samples.appending(path: path)
    let head = try Input(FileSource(path: url.path)).head
    if GenericFormat.isEmptyList(head) { return }
    let claiming = try FormatRegister.formats.filter { try recognises(head, $0) }
    let own = String(path.prefix { $0 != "/" })
    // The generic format also recognises some tables of other formats, so it is not compared.
    let others = claiming.map { $0.id }.filter { $0 != "generic" }
    #expect(others == (own == "generic" ? [] : [own]))
  }

  // MARK: Inputs similar to mySugr

  /// A table of Tidepool data as Python programs save it from a data frame. It has a column for each member
  /// of any kind of item.
  private static let tidepool = """
    jsonRowIndex,activeSchedule,annotations,basalSchedules,bgInput,bgTarget,bolus,carbInput,carbRatio,clockDriftOffset,\
    conversionOffset,insulinSensitivityFactor,deliveryType,deviceId,deviceTime,duration,extended,factor,guid,id,\
    normal,payload,rate,recommended,scheduleName,subType,time,timezoneOffset,type,units,uploadId,value
    0,,,,,,,,,0,0,,,Sample-1,2026-05-06T08:01:00,,,,g,i,,"{'factor': 1, 'unit': 'mg/dL'}",,,,,2026-05-06T12:01:00Z,\
    -240,cbg,mmol/L,u,8.27061
    1,,,,,,,,"[{'amount': 12, 'note': '(g, factor 12)'}]",0,0,mg/dL factor,,Sample-1,2026-05-06T08:02:00,,,mg/dL,g,j,,,,,\
    ,,2026-05-06T12:02:00Z,-240,pumpSettings,mg/dL,u,

    """

  @Test func aTableOfTidepoolWithFactorsIsNotRecognisedAsMySugr() throws {
    #expect(try !claims(Self.tidepool, MySugrFormat.self))
    #expect(try format(Self.tidepool) == "tidepool")
    let export = try TextExport(Self.tidepool)
    #expect(export.readings.compactMap(\.measurement.quantity?.number) == [8.27061])
  }

  /// The beginning of a German export of CareLink.
  private static let careLink = """
    Nachname;Vorname;Patienten-ID
    Muster;Kim;
    Index;Datum;Zeit;Zeitstempel;Neue Gerätezeit;BZ-Messwert (mg/dl);ID des verb. BZ-Messgeräts;\
    Tempor. Basalrate (IE/h);Art d. tempor. Basalrate;Dauer Temp Basal (hh:mm:ss);Bolustyp;\
    Gewähltes Bolusvolumen (IE);Abgegebene Bolusmenge (IE);Bolusdauer (hh:mm:ss);Füllart;Abgegebenes Füllvolumen (IE);\
    Unterbrechen;Rücklauf;BolusExpert-Schätzung (IE);BolusExpert: Hoher BZ-Grenzwert (mg/dl);\
    BolusExpert: Niedriger BZ-Grenzwert (mg/dl);BolusExpert: KH-Faktor (Gramm);\
    BolusExpert: Korrekturfaktor (mg/dl);BolusExpert: KH-Eingabe (Gramm);BolusExpert: BZ-Eingabe (mg/dl);\
    BolusExpert: Geschätzte Korrektur (IE);BolusExpert: geschätzte Nahrung (IE);Sensorglukose (mg/dl)
    1;05.05.26;08:00:00;05.05.26 08:00:00;;112;;;;;;;;;;;;;;;;;;;;;;

    """

  @Test func aGermanTableOfCareLinkIsNotRecognisedAsMySugr() throws {
    #expect(try !claims(Self.careLink, MySugrFormat.self))
    let cut = Self.careLink.split(separator: "\n").dropFirst(2).joined(separator: "\n")
    #expect(try !claims(cut, MySugrFormat.self))
  }

  @Test func rowsOfDataAreNotRecognisedAsAMySugrHeader() throws {
    let header = (1...25).map { "column \($0)" }.joined(separator: ",")
    var cells = (1...25).map(String.init)
    (cells[3], cells[11]) = ("110 mg/dL", "\"(grams, factor 1)\"")
    let row = cells.joined(separator: ",")
    #expect(try claims("\(row)\n", MySugrFormat.self), "the row alone must look like a header")
    #expect(try !claims("\(header)\n\(row)\n", MySugrFormat.self))
  }

  // MARK: Inputs similar to Nightscout

  @Test func aTableWithAnotherHeaderIsNotRecognisedAsNightscout() throws {
    let row = "2026-05-06T12:00:00Z,1778068800000,72,Flat,Sample watch\n"
    #expect(try claims(row, NightscoutFormat.self))
    #expect(try !claims("when,milliseconds,heart_rate,zone,device\n" + row, NightscoutFormat.self))
  }

  @Test func aRowWithoutADirectionIsNotRecognisedAsNightscout() throws {
    #expect(
      try !claims("2026-05-06T12:00:00Z,1778068800000,72,resting,Sample watch\n", NightscoutFormat.self))
  }
}
