// SPDX-License-Identifier: Apache-2.0

import Formats
package import Ingest
package import Logbook
package import LogbookStore

/// The results of an import as lines of text.
package enum ImportSummary {
  /// All lines about the import of one input.
  package static func lines(
    _ report: ImportReport, _ doubles: ImportDoubles, isDryRun: Bool, rejectsFile: String?
  ) -> [String] {
    let counts = report.counts
    var lines = [title(report)] + self.lines(counts)
    if !report.decisions.isEmpty { lines.append(decisions(report.decisions)) }
    if let clock = report.meter?.clock {
      lines.append("clock " + MeterText.line((clock.comparison, clock.difference)))
    }
    if let notTaken = notTaken(counts.notTaken) { lines.append(notTaken) }
    if let skipped = skipped(counts) { lines.append(skipped) }
    lines += zoneNotes(counts)
    lines += warnings(report, isQuiet: false).map { "warning: \($0)" }
    lines += report.likelyDuplicates.map(line)
    lines += doubles.lines
    if let hidden = hiddenNote(counts) { lines.append(hidden) }
    if let rejectsFile, counts.rejected > 0 { lines.append("rejected rows: \(displayed(rejectsFile))") }
    if isDryRun { lines.append("preview: nothing was stored") }
    return lines.enumerated().map { $0.offset == 0 ? $0.element : "  " + $0.element }
  }

  /// The warnings of a report that are shown. They are the same for files, members of archives, files in
  /// folders and pipes. Those of a quiet import concern totals and times, and cron sends them by mail.
  package static func warnings(_ report: ImportReport, isQuiet: Bool) -> [String] {
    (isQuiet ? report.doubts + report.counts.warnings : report.warnings).map(displayed)
  }

  /// Lines about items whose times follow another zone than that of the import, or moved with it.
  package static func zoneNotes(_ counts: IngestCounts) -> [String] {
    var lines: [String] = []
    if counts.periodItems > 0 {
      lines.append(
        "\(counted(counts.periodItems, "item keeps", "items keep")) the zone of a period, which was stated after the zone of "
          + "the import; 'glucoport config timezone' lists periods, and --remove takes one back")
    }
    if counts.movedItems > 0 {
      lines.append(
        "\(counted(counts.movedItems, "item", "items")) of earlier imports moved: this input has "
          + "\(counts.movedItems == 1 ? "it" : "them"), too, and the zone that was given last counts; 'glucoport undo' of this "
          + "import moves \(counts.movedItems == 1 ? "it" : "them") back")
    }
    return lines
  }

  /// How to show items again that stay hidden; nil if there are none.
  package static func hiddenNote(_ counts: IngestCounts) -> String? {
    guard counts.withdrawnReadings + counts.withdrawnRecords > 0 else { return nil }
    let items = counts.withdrawnRecords == 0 ? "readings" : "items"
    return "hidden \(items) stay hidden; to show those of an undone import again: --again"
  }

  /// The sentence about two devices that probably have the same readings.
  package static func line(_ duplicate: LikelyDuplicate) -> String {
    "likely the same readings: \(grouped(duplicate.readings)) of \(displayed(duplicate.device)) and \(displayed(duplicate.other))"
  }

  /// The sentence about what was stored before a signal ended the import.
  package static func line(_ interruption: ImportInterruption, isDryRun: Bool) -> String {
    let counts = interruption.stored
    let records = counts.newRecords + counts.updatedRecords
    let stored = [(counts.newReadings, "reading"), (records, "record")].filter { $0.0 > 0 }
      .map { counted($0.0, $0.1) }.joined(separator: " and ")
    let outcome =
      isDryRun || stored.isEmpty
      ? "nothing was stored" : "stored \(stored); import it again for the rest"
    return "\(displayed(interruption.source)): interrupted; \(outcome)"
  }

  /// The line with the numbers of readings, and a line for the records if there are any.
  package static func lines(_ counts: IngestCounts) -> [String] {
    var lines = [
      "new \(grouped(counts.newReadings)) · known \(grouped(counts.knownReadings))"
        + part("hidden", counts.withdrawnReadings) + part("shown again", counts.restoredReadings)
        + part("repeated", counts.repeatedReadings) + part("changed at the source", counts.changedReadings)
        + part("corrected at the source", counts.correctedReadings)
        + " · rejected \(grouped(counts.rejected))" + part("ambiguous time", counts.ambiguousTimes)
        + part("doubtful time", counts.doubtfulTimes)
    ]
    if counts.records + counts.deletedRecords > 0 {
      lines.append(
        "records: new \(grouped(counts.newRecords)) · known \(grouped(counts.knownRecords))"
          + part("hidden", counts.withdrawnRecords)
          + part("repeated", counts.repeatedRecords) + part("updated", counts.updatedRecords)
          + part("kept", counts.keptRecords) + part("deleted at the source", counts.deletedRecords))
    }
    return lines
  }

  /// The number of rejected items for each reason, the most frequent first; nil if none was rejected.
  package static func notTaken(_ counts: [String: Int]) -> String? {
    if counts.isEmpty { return nil }
    let reasons = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return "not taken: "
      + reasons.map { "\(grouped($0.value)) (\(displayed($0.key)))" }.joined(separator: ", ")
  }

  /// The names of the kinds that the import does not support, with the number of items; nil if there are
  /// none.
  package static func skipped(_ counts: IngestCounts) -> String? {
    if counts.skipped.isEmpty { return nil }
    let names = counts.skipped.keys.sorted().map { "\(displayed($0)) \(grouped(counts.skipped[$0] ?? 0))" }
    return "not imported: " + names.joined(separator: ", ")
  }

  /// What was decided about an input, such as its unit. The format is left out, since the title has it. The
  /// choices that a person typed are left out, too.
  static func decisions(_ decisions: [Decision]) -> String {
    decisions.dropFirst().filter { !Decision.choices.contains($0.subject) }.map {
      "\($0.subject) \(displayed($0.value)) (\($0.basis.rawValue))"
    }
    .joined(separator: " · ")
  }

  private static func title(_ report: ImportReport) -> String {
    let title =
      report.meter.map { displayed(MeterText.name($0.identity.device, firmware: $0.identity.firmware)) }
      ?? FormatRegister.all.first { $0.id == report.format }?.title ?? report.format
    // A server returns an export without values if it has none for the period. The title then states that
    // there are no values.
    let isEmpty =
      report.meter == nil && report.counts.readings + report.counts.records + report.counts.rejected == 0
    let readings = isEmpty ? "no values" : counted(report.counts.readings, "reading")
    var text = "\(displayed(report.source)): \(title), \(readings)"
    if report.counts.records > 0 { text += ", \(counted(report.counts.records, "record"))" }
    if let first = report.counts.firstTime, let last = report.counts.lastTime {
      text += ", \(DeviceTime(seconds: first).text.prefix(10)) … \(DeviceTime(seconds: last).text.prefix(10))"
    }
    return text
  }

  private static func part(_ name: String, _ count: Int) -> String {
    count > 0 ? " · \(name) \(grouped(count))" : ""
  }
}

/// The results of an import, as `import --json` prints them; glucoport-json(5) documents the members.
package struct ImportObject: Encodable {
  private struct Head: Encodable {
    let source: String
    let format: String
    let outcome: String
    let dryRun: Bool
  }

  private struct Details: Encodable {
    let decisions: JSONMembers<DecisionObject>
    let meter: MeterObject?
    let clock: ClockObject?
    let warnings: [String]
    let likelyDuplicates: [LikelyDuplicate]
    let doubled: [DoubledObject]
    let sensorCopies: [DoubledObject]
  }

  private let head: Head
  private let counts: IngestCounts
  private let details: Details

  /// Copies the results for one input.
  package init(_ report: ImportReport, _ doubles: ImportDoubles, isDryRun: Bool) {
    head = Head(
      source: report.source, format: report.format, outcome: report.end == .whole ? "whole" : "truncated",
      dryRun: isDryRun)
    counts = report.counts
    details = Details(
      decisions: JSONMembers(
        report.decisions.map { ($0.subject, DecisionObject(value: $0.value, basis: $0.basis.rawValue)) }),
      meter: report.meter.map { MeterObject($0.identity) },
      clock: report.meter?.clock.map { ClockObject($0) }, warnings: report.warnings,
      likelyDuplicates: report.likelyDuplicates, doubled: doubles.objects,
      sensorCopies: doubles.sensorCopyObjects)
  }

  /// Writes the members in the order in which the manual lists them.
  package func encode(to encoder: any Encoder) throws {
    try head.encode(to: encoder)
    try counts.encode(to: encoder)
    try details.encode(to: encoder)
  }
}

/// A decision about an input, such as its unit, and on what it is based.
struct DecisionObject: Encodable {
  let value: String
  let basis: String
}

/// The names of sources in the texts for people.
package enum SourceTitle {
  /// The product of a source's format, with the program or the device of the source:
  /// `Apple Health (Anna's iPhone)`.
  package static func text(_ source: CountingSource) -> String {
    let title = format(source.format)
    let part = displayed(source.part)
    if part.isEmpty || part == title { return title }
    // A device is identified by its name. Many devices use the same format, so the format's title would add
    // nothing.
    return source.role == .memory ? part : "\(title) (\(part))"
  }

  /// The name of the app or service of a format: the words of its title before `CSV` and the like, so
  /// `Dexcom Clarity`. An id that is not of a format, such as a driver's, is returned unchanged.
  package static func format(_ id: String) -> String {
    guard let title = FormatRegister.all.first(where: { $0.id == id })?.title else {
      return id.isEmpty ? "an unknown source" : displayed(id)
    }
    return title.split(separator: " ").prefix { !forms.contains(String($0)) }.joined(separator: " ")
  }

  /// The words that begin the description of the file in the title of a format, such as `CSV`. The name of
  /// the product precedes them.
  private static let forms: Set<String> = [
    "CSV", "JSON", "JSON,", "Observations", "TSV", "XML", "and", "backup", "dump", "export.xml", "or",
    "report",
    "sheets",
  ]
}
