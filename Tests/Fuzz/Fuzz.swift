// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import Logbook
import TemporaryFiles

// The entry point for libFuzzer. Only Tests/fuzz.sh builds and runs this target.

/// Reads one input like `glucoport import` reads a file, and traps if the result breaks a rule.
///
/// - Returns: 0, for an input that libFuzzer may keep.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = UnsafeBufferPointer(start: bytes, count: count)
  do {
    try FuzzedImport(FuzzInput.file(input), variant: FuzzInput.variant(of: input)).run()
  } catch is Failure {
    // A refusal is a correct result for damaged input.
  } catch {
    fatalError("an error without a category: \(error)")
  }
  return 0
}

/// One import of an input without a store.
struct FuzzedImport {
  private let file: UnlinkedFile
  private let options: ExportOptions

  /// - Parameter variant: bits that choose a person's options, so that ambiguous inputs are also read to
  ///   their end.
  init(_ bytes: [UInt8], variant: Int) throws {
    let file = try UnlinkedFile()
    try bytes.withUnsafeBytes { try file.append($0) }
    self.file = file
    // The current time is fixed to 2026-11-21T00:00:00Z, so that the same readings are in the future in each
    // run.
    var options = try ExportOptions(zone: LogbookZone(name: "Europe/Madrid"), now: 1_795_219_200)
    if variant & 1 != 0 { options.unit = variant & 2 == 0 ? .milligramsPerDecilitre : .millimolesPerLitre }
    if variant & 4 != 0 { options.dateOrder = variant & 8 == 0 ? "dmy" : "mdy" }
    if variant & 16 != 0 { options.kind = variant & 32 == 0 ? .smbg : .cbg }
    options.force = variant & 64 != 0
    // These are the columns of `DIARY` in seeds.py.
    if variant & 896 == 896 {
      options.columns = [
        "time": "time", "value": "glucose", "insulin": "insulin", "carbs": "carbs", "note": "note",
        "device": "device",
      ]
    }
    self.options = options
  }

  func run() throws {
    let descriptor = try file.duplicate()
    // The copy of the descriptor has its position after the written bytes.
    precondition(lseek(descriptor, 0, SEEK_SET) == 0, "the input cannot be read from its start")
    try read(ExportInputs(descriptor: descriptor, name: "-", isInterrupted: { false }))
  }

  private func read(_ inputs: ExportInputs) throws {
    for place in 0..<inputs.count {
      // A fault of one member of an archive does not affect the next member.
      do {
        switch try inputs.open(place, options: options) {
        case .export(let reader): try read(reader)
        case .spreadsheet(let sheets): try read(sheets)
        case .unread: continue
        }
      } catch is Failure {}
    }
  }

  private func read(_ export: InputReader) throws {
    var reader = export
    var batch = IngestBatch()
    var isOpen = true
    while isOpen {
      isOpen = try reader.read(into: &batch)
      Invariants.check(batch)
      batch.removeItems()
    }
    _ = (reader.decisions, reader.warnings, reader.digest, reader.generatedAt, reader.end, reader.header)
  }
}
