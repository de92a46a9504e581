// SPDX-License-Identifier: Apache-2.0

import CoreMetrics

/// What the server counts: requests, their time, and how much was stored. Nothing of what, and nothing of whose.
struct ServerMetrics: Sendable {
  private let registry = PrometheusRegistry()
  private let stored: Counter
  private let accepted: Counter

  init() {
    stored = Counter(label: "glucoport_readings_stored_total", factory: registry)
    accepted = Counter(label: "glucoport_record_changes_accepted_total", factory: registry)
  }

  /// Counts an answered request.
  func answered(_ route: WireRoute?, _ status: Int, _ duration: Duration) {
    let name = route?.rawValue ?? "other"
    let dimensions = [("route", name), ("status", String(status))]
    Counter(label: "glucoport_requests_total", dimensions: dimensions, factory: registry).increment()
    Timer(
      label: "glucoport_request_duration_seconds", dimensions: [("route", name)], factory: registry
    ).recordNanoseconds(Int64(duration / .nanoseconds(1)))
  }

  func readingsStored(_ count: Int) { stored.increment(by: count) }

  func recordsAccepted(_ count: Int) { accepted.increment(by: count) }

  /// Everything counted so far, in the text format of Prometheus.
  var text: String { registry.text }
}
