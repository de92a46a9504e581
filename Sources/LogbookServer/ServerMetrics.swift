// SPDX-License-Identifier: Apache-2.0

/// Counts requests, their durations and the stored items. It contains no personal data.
actor ServerMetrics {
  private var stored = 0
  private var accepted = 0
  /// The number of requests, by the labels for route and status.
  private var requests: [String: Int] = [:]
  /// The durations of requests, by the label for the route.
  private var times: [String: (total: Duration, count: Int)] = [:]

  func answered(_ route: WireRoute?, _ status: Int, _ duration: Duration) {
    let name = route?.rawValue ?? "other"
    requests["{route=\"\(name)\",status=\"\(status)\"}", default: 0] += 1
    let time = times["{route=\"\(name)\"}"] ?? (.zero, 0)
    times["{route=\"\(name)\"}"] = (time.total + duration, time.count + 1)
  }

  func readingsStored(_ count: Int) { stored += count }

  func recordsAccepted(_ count: Int) { accepted += count }

  /// All counts in the text format of Prometheus (exposition format 0.0.4).
  var text: String {
    var lines = [
      "# TYPE glucoport_readings_stored_total counter", "glucoport_readings_stored_total \(stored)",
      "# TYPE glucoport_record_changes_accepted_total counter",
      "glucoport_record_changes_accepted_total \(accepted)",
    ]
    if !requests.isEmpty { lines.append("# TYPE glucoport_requests_total counter") }
    for (labels, count) in requests.sorted(by: { $0.key < $1.key }) {
      lines.append("glucoport_requests_total\(labels) \(count)")
    }
    if !times.isEmpty { lines.append("# TYPE glucoport_request_duration_seconds summary") }
    for (labels, time) in times.sorted(by: { $0.key < $1.key }) {
      lines.append("glucoport_request_duration_seconds_sum\(labels) \(time.total / .seconds(1))")
      lines.append("glucoport_request_duration_seconds_count\(labels) \(time.count)")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
