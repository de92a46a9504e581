// SPDX-License-Identifier: Apache-2.0

import Logbook
import Sync

/// What a comparison found, for people and for programs. Values, serial numbers and texts are not told.
enum VerifyText {
  static func lines(_ summary: VerifySummary, isFixed: Bool) -> [String] {
    var lines = summary.listed.map(line)
    let rest = summary.differences - summary.listed.count
    if rest > 0 { lines.append("and \(grouped(rest)) more") }
    lines.append(total(summary))
    if summary.notPulled > 0 {
      lines.append(
        "\(grouped(summary.notPulled)) items are not fetched yet; 'glucoport upload' does that, with --all for older readings that were left out"
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

  /// What was done, and what the next upload does.
  private static func outcome(_ summary: VerifySummary) -> [String] {
    var lines: [String] = []
    if summary.fetchedReadings + summary.fetchedRecords > 0 {
      lines.append("fetched \(amount(summary.fetchedReadings, summary.fetchedRecords))")
    }
    if summary.requeuedReadings + summary.requeuedRecords > 0 {
      lines.append(
        "queued again \(amount(summary.requeuedReadings, summary.requeuedRecords)); 'glucoport upload' sends them"
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
    case .missingThere: "missing there"
    case .missingHere: "missing here"
    case .different: "different there"
    }
  }

  private static func amount(_ readings: Int, _ records: Int) -> String {
    "\(counted(readings, "reading")), \(counted(records, "record"))"
  }

  /// The object of `verify --json`; glucoport-json(5) documents its members.
  static func json(_ summary: VerifySummary, isFixed: Bool) -> String {
    let outcome = summary.differences == 0 ? "equal" : isFixed ? "fixed" : "different"
    return """
      {"outcome":"\(outcome)","missing_there_readings":\(summary.readings[.missingThere] ?? 0),\
      "missing_there_records":\(summary.records[.missingThere] ?? 0),\
      "missing_here_readings":\(summary.readings[.missingHere] ?? 0),\
      "missing_here_records":\(summary.records[.missingHere] ?? 0),\
      "different_records":\(summary.records[.different] ?? 0),"not_pulled":\(summary.notPulled),\
      "requeued_readings":\(summary.requeuedReadings),"requeued_records":\(summary.requeuedRecords),\
      "fetched_readings":\(summary.fetchedReadings),"fetched_records":\(summary.fetchedRecords),\
      "differences":[\(summary.listed.map(json).joined(separator: ","))]}
      """
  }

  private static func json(_ difference: FoundDifference) -> String {
    let named = "{\"difference\":\"\(difference.kind.rawValue)\""
    switch difference.item {
    case .reading(let kind, let device, let time):
      return named
        + ",\"item\":\"reading\",\"kind\":\"\(kind.name)\",\"vendor\":\(jsonText(device.vendor)),\"model\":\(jsonText(device.model)),\"device_time\":\"\(time.text)\"}"
    case .record(let kind, let guid, let time):
      return named
        + ",\"item\":\"record\",\"kind\":\"\(kind.rawValue)\",\"guid\":\(jsonText(guid)),\"device_time\":\"\(time.text)\"}"
    }
  }
}
