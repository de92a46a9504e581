// SPDX-License-Identifier: Apache-2.0

import Logbook
import Sync

/// The results of a comparison as text. Values, serial numbers and texts are not shown.
enum VerifyText {
  static func lines(_ summary: VerifySummary, isFixed: Bool) -> [String] {
    var lines = summary.listed.map(line)
    let rest = summary.differences - summary.listed.count
    if rest > 0 { lines.append("and \(grouped(rest)) more") }
    lines.append(total(summary))
    if summary.notPulled > 0 {
      lines.append(
        "\(counted(summary.notPulled, "item is", "items are")) not downloaded yet; use 'glucoport upload', with --all for older readings that were skipped"
      )
    }
    if isFixed, summary.differences > 0 { lines.append(contentsOf: outcome(summary)) }
    return lines
  }

  private static func total(_ summary: VerifySummary) -> String {
    if summary.differences == 0 { return "no differences" }
    let parts = FoundDifference.Kind.allCases.compactMap { kind -> String? in
      let (readings, records) = (summary.readings[kind] ?? 0, summary.records[kind] ?? 0)
      return readings + records == 0 ? nil : "\(words(kind)) \(amount(readings, records))"
    }
    return parts.joined(separator: " · ")
  }

  /// The changes so far, and those of the next upload.
  private static func outcome(_ summary: VerifySummary) -> [String] {
    var lines: [String] = []
    if summary.fetchedReadings + summary.fetchedRecords > 0 {
      lines.append("downloaded \(amount(summary.fetchedReadings, summary.fetchedRecords))")
    }
    if summary.requeuedReadings + summary.requeuedRecords > 0 {
      lines.append(
        "queued again \(amount(summary.requeuedReadings, summary.requeuedRecords)); 'glucoport upload' sends them"
      )
    }
    if summary.unfixed > 0 {
      lines.append(
        "\(counted(summary.unfixed, "difference")) could not be fixed; run 'glucoport upload', then 'glucoport conflict list' shows what needs a decision"
      )
    }
    return lines
  }

  private static func line(_ difference: FoundDifference) -> String {
    let (what, time): (String, DeviceTime) =
      switch difference.item {
      case .reading(let kind, let device, let time):
        ("\(kind.name)  \(displayed(device.model.isEmpty ? device.vendor : device.model))", time)
      case .record(let kind, let guid, let time): ("\(kind.rawValue)  \(displayed(guid))", time)
      }
    return "\(words(difference.kind)): \(time.text.replacing("T", with: " "))  \(what)"
  }

  private static func words(_ kind: FoundDifference.Kind) -> String {
    switch kind {
    case .missingThere: "missing on the remote"
    case .missingHere: "missing here"
    case .different: "different on the remote"
    case .altered: "changed here by another program"
    }
  }

  private static func amount(_ readings: Int, _ records: Int) -> String {
    "\(counted(readings, "reading")), \(counted(records, "record"))"
  }
}
