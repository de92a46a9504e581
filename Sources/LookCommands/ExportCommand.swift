// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook
import LogbookStore

/// The formats in which `export` can write items.
enum ExportForm: String, ExpressibleByArgument, CaseIterable {
  case csv, ndjson, nightscout, fhir
  case fhirNDJSON = "fhir-ndjson"
  case openmhealth

  /// Whether items are written as FHIR resources.
  var isFHIR: Bool { self == .fhir || self == .fhirNDJSON }
}

extension FHIRWriter.Profile: ExpressibleByArgument {}

/// The command `export`, which writes items so that they can be imported again without loss.
struct ExportCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "export", "Print readings and records for other programs.",
    """
    Importing the output into the same store changes nothing. Nightscout entries, FHIR and Open \
    mHealth hold only readings.
    """,
    examples: "glucoport export --since 2026-01-01 > readings.csv",
    "glucoport export --format ndjson | glucoport import --store copy.db -")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var items: ItemOptions

  @Option(
    help: ArgumentHelp(
      "csv, ndjson, nightscout, fhir, fhir-ndjson or openmhealth.", valueName: "form"))
  var format = ExportForm.csv

  @Flag(help: "In CSV, protect cells that a spreadsheet would take for formulas.")
  var spreadsheetSafe = false

  @Flag(help: "In csv and ndjson, add the value in mg/dL and in mmol/L.")
  var bothUnits = false

  @Option(
    help: ArgumentHelp(
      "In FHIR, name the profiles of this guide where a reading meets them: cgm or hddt.", valueName: "guide")
  )
  var profile: FHIRWriter.Profile?

  @Option(help: ArgumentHelp("In FHIR, write this name of the patient; without it, none.", valueName: "name"))
  var patientName: String?

  func validate() throws {
    if bothUnits, format != .csv, format != .ndjson {
      throw ValidationError("--both-units is only for csv and ndjson.")
    }
    if spreadsheetSafe, format != .csv { throw ValidationError("--spreadsheet-safe is only for csv.") }
    if profile != nil, !format.isFHIR { throw ValidationError("--profile is only for fhir and fhir-ndjson.") }
    if patientName != nil, !format.isFHIR {
      throw ValidationError("--patient-name is only for fhir and fhir-ndjson.")
    }
    if patientName == "" { throw ValidationError("--patient-name needs a name.") }
  }

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    var filter = try items.filter(store)
    // Without `--kind`, records are exported that `list` does not show, such as statements about other items,
    // or kinds that only newer programs know.
    filter.includesUnlistedKinds = items.kind == nil
    var writer = try writer(store, output)
    writer.begin()
    try store.forEachItem(filter) {
      writer.write($0)
      try output.requireOpenOutput()
    }
    for message in writer.end() { output.message("glucoport: \(message)") }
  }
  private func writer(_ store: Store, _ output: Output) throws -> any ItemWriter {
    func fhir(_ form: FHIRWriter.Form) throws -> any ItemWriter {
      let logbook = try store.identityParts() ?? [""]
      return DocumentItemWriter(
        FHIRWriter(form, logbook: logbook, profile: profile, patientName: patientName), output)
    }
    return switch format {
    case .csv: OwnFormatWriter(.csv(isSpreadsheetSafe: spreadsheetSafe), inBothUnits: bothUnits, output)
    case .ndjson: OwnFormatWriter(.ndjson, inBothUnits: bothUnits, output)
    case .nightscout: DocumentItemWriter(NightscoutEntryWriter(), output)
    case .fhir: try fhir(.bundle)
    case .fhirNDJSON: try fhir(.ndjson)
    case .openmhealth: DocumentItemWriter(OpenMHealthWriter(), output)
    }
  }
}

/// Writes readings as documents of another program's format, each with all parts of its identity. Items that
/// this format cannot contain are counted.
struct DocumentItemWriter<Writer: ReadingDocumentWriter>: ItemWriter {
  private let output: Output
  private var writer: Writer
  private var records = 0
  private var omitted: [ReadingOmission: Int] = [:]
  private var document: [UInt8] = []

  init(_ writer: Writer, _ output: Output) { (self.writer, self.output) = (writer, output) }

  func begin() { output.write(TerminalText.json(writer.header)) }

  mutating func write(_ item: StoredItem) {
    guard case .reading(let reading) = GlucoportItem(item) else {
      if case .record(let record) = item, record.kind.details?.isListed != false { records += 1 }
      return
    }
    if let omission = Writer.omission(of: reading) {
      omitted[omission, default: 0] += 1
      return
    }
    document.removeAll(keepingCapacity: true)
    writer.append(reading, to: &document)
    output.write(TerminalText.json(document))
  }

  func end() -> [String] {
    output.write(writer.footer)
    let leftOut = [(records, "record")] + ReadingOmission.allCases.map { (omitted[$0] ?? 0, $0.noun) }
    return leftOut.filter { $0.0 > 0 }.map { "left out \(counted($0.0, $0.1))" }
  }
}
