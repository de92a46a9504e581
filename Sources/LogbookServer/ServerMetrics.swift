// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the server counts: requests, their time, and how much was stored. Nothing of what, and nothing of whose.
///
/// The lock guards the counts and nothing else: no call is made while it is held.
final class ServerMetrics: Sendable {
  private struct Counts {
    var stored = 0
    var accepted = 0
    /// By route and status, as labels.
    var requests: [String: Int] = [:]
    /// By route, as labels.
    var times: [String: (total: Duration, count: Int)] = [:]
  }

  private let counts = Mutex(Counts())

  /// Counts an answered request.
  func answered(_ route: WireRoute?, _ status: Int, _ duration: Duration) {
    let name = route?.rawValue ?? "other"
    counts.withLock { counts in
      counts.requests["{route=\"\(name)\",status=\"\(status)\"}", default: 0] += 1
      let time = counts.times["{route=\"\(name)\"}"] ?? (.zero, 0)
      counts.times["{route=\"\(name)\"}"] = (time.total + duration, time.count + 1)
    }
  }

  func readingsStored(_ count: Int) { counts.withLock { $0.stored += count } }

  func recordsAccepted(_ count: Int) { counts.withLock { $0.accepted += count } }

  /// Everything counted so far, in the text format of Prometheus (exposition format 0.0.4).
  var text: String {
    let counts = counts.withLock { $0 }
    var lines = [
      "# TYPE glucoport_readings_stored_total counter", "glucoport_readings_stored_total \(counts.stored)",
      "# TYPE glucoport_record_changes_accepted_total counter",
      "glucoport_record_changes_accepted_total \(counts.accepted)",
    ]
    if !counts.requests.isEmpty { lines.append("# TYPE glucoport_requests_total counter") }
    for (labels, count) in counts.requests.sorted(by: { $0.key < $1.key }) {
      lines.append("glucoport_requests_total\(labels) \(count)")
    }
    if !counts.times.isEmpty { lines.append("# TYPE glucoport_request_duration_seconds summary") }
    for (labels, time) in counts.times.sorted(by: { $0.key < $1.key }) {
      lines.append("glucoport_request_duration_seconds_sum\(labels) \(time.total / .seconds(1))")
      lines.append("glucoport_request_duration_seconds_count\(labels) \(time.count)")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
