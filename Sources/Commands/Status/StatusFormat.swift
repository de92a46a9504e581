// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The forms in which monitoring programs read the result of a check.
enum StatusFormat: String, CaseIterable, ExpressibleByArgument { case prometheus, nagios }

/// The result of a check as metrics, in the text format that node_exporter's textfile collector reads. It has
/// counts, times and words of findings, and no value of a reading.
struct StatusMetrics {
  let text: StatusText
  let findings: [StatusFinding]

  var lines: [String] {
    let (overview, sync) = (text.overview, text.sync)
    let kinds = [
      ("readings", overview.pendingReadings), ("records", overview.pendingRecords),
      ("attachments", text.contents.pending(for: sync.remote)),
    ]
    return gauge("readings", "Readings in the store.", [("", Int64(overview.readings))])
      + gauge("records", "Records in the store.", [("", Int64(overview.records))])
      + gauge(
        "pending", "Items that are not on the remote yet.", kinds.map { ("kind=\"\($0.0)\"", Int64($0.1)) })
      + gauge(
        "oldest_pending_timestamp_seconds", "Since when the oldest pending item is pending.",
        [("", sync.oldestPending)])
      + gauge(
        "last_upload_timestamp_seconds", "When an upload last succeeded.", [("", sync.remote?.lastSuccess)])
      + gauge(
        "last_import_timestamp_seconds", "When the last import ended.",
        [("", overview.ingests.compactMap(\.finishedAt).max())])
      + gauge(
        "finding", "Whether a check found this, by the words of glucoport-status(1).",
        StatusFinding.Word.allCases.map { word in
          ("word=\"\(word.rawValue)\"", findings.contains { $0.word == word } ? 1 : 0)
        })
  }

  /// A metric with its samples. A metric without samples is left out.
  private func gauge(_ name: String, _ help: String, _ samples: [(label: String, value: Int64?)]) -> [String]
  {
    let name = "glucoport_store_" + name
    let lines = samples.compactMap { label, value in
      value.map { "\(name){store=\"\(escaped)\"\(label.isEmpty ? "" : "," + label)} \($0)" }
    }
    return lines.isEmpty ? [] : ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + lines
  }

  /// The path, which distinguishes several stores of one computer.
  private var escaped: String {
    displayed(text.path).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}

/// The result of a check in the form of a plug-in for Nagios, Icinga or Naemon: one line with figures after a
/// bar.
struct StatusPlugin {
  /// The states of such a plug-in, by the words of their guidelines.
  private enum State: String { case ok = "OK", warning = "WARNING", critical = "CRITICAL" }

  let text: StatusText
  let findings: [StatusFinding]

  var line: String {
    let overview = text.overview
    let summary =
      findings.isEmpty
      ? "\(counted(overview.readings, "reading")), \(grouped(overview.pending)) pending"
      : findings.map { displayed($0.line) }.joined(separator: "; ")
    let figures = [
      ("readings", overview.readings), ("records", overview.records), ("pending", overview.pending),
      ("conflicts", overview.conflicts), ("refused", overview.refused + text.contents.refused),
    ].map { "\($0.0)=\($0.1)" }.joined(separator: " ")
    // The bar has a meaning in the format.
    return "GLUCOPORT \(state.rawValue) - \(summary.replacing("|", with: "/")) | \(figures)"
  }

  /// The exit status for this state.
  var status: ExitStatus {
    switch state {
    case .ok: .done
    case .warning: .failed
    case .critical: .critical
    }
  }

  /// Critical only for uploads that fail or are overdue, since data would be lost in the end. All other
  /// findings wait for a person.
  private var state: State {
    if findings.contains(where: { $0.word == .upload || $0.word == .overdue }) { return .critical }
    return findings.isEmpty ? .ok : .warning
  }
}
