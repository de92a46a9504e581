// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// An ingest in one line, and as a JSON object.
enum IngestText {
  static func line(_ ingest: IngestEntry) -> String {
    let outcome = ingest.outcome == "whole" ? "" : " · \(outcomeWords(ingest.outcome))"
    return
      "\(ingest.id)  \(time(ingest.startedAt))  \(ingest.format)  \(displayed(ingest.source)): new \(grouped(ingest.new)) · known \(grouped(ingest.known)) · rejected \(grouped(ingest.rejected))\(outcome)"
  }

  static func json(_ ingest: IngestEntry) -> String {
    """
    {"id":\(ingest.id),"source":\(jsonText(ingest.source)),"format":\(jsonText(ingest.format)),\
    "digest":\(ingest.digest.map(jsonText) ?? "null"),"started_at":"\(time(ingest.startedAt))",\
    "finished_at":\(ingest.finishedAt.map { "\"\(time($0))\"" } ?? "null"),"outcome":"\(ingest.outcome)",\
    "counts":\(ingest.counts),"decisions":\(ingest.decisions),\
    "meter":\(ingest.meter.map { MeterText.json($0, firmware: ingest.firmware) } ?? "null"),\
    "clock":\(ingest.clock.map(MeterText.json) ?? "null")}
    """
  }

  private static func time(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }

  /// An ingest without an end was killed, or runs at this moment.
  private static func outcomeWords(_ outcome: String) -> String {
    outcome == "running" ? "not finished" : outcome == "truncated" ? "input was cut off" : outcome
  }
}
