// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization

/// Keeps the metrics of a server and writes them as Prometheus reads them (exposition format 0.0.4).
///
/// The lock guards the two tables and nothing else: no call is made while it is held.
final class PrometheusRegistry: MetricsFactory {
  private struct Tables {
    var counters: [String: Cell] = [:]
    var timers: [String: Cell] = [:]
  }

  private let tables = Mutex(Tables())

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    tables.withLock { Self.cell(Self.key(label, dimensions), in: &$0.counters) }
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    tables.withLock { Self.cell(Self.key(label, dimensions), in: &$0.timers) }
  }

  // The server has neither recorders nor meters; a dependency that makes one counts into a cell of its own.
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    Cell()
  }

  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Cell() }

  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}

  /// Every metric, in the order of their names.
  var text: String {
    let (counters, timers) = tables.withLock { ($0.counters, $0.timers) }
    var lines: [String] = []
    var last = ""
    func head(_ key: String, _ type: String) {
      let name = String(key.prefix { $0 != "{" })
      if name != last { lines.append("# TYPE \(name) \(type)") }
      last = name
    }
    for (key, cell) in counters.sorted(by: { $0.key < $1.key }) {
      head(key, "counter")
      lines.append("\(key) \(cell.sum.load(ordering: .relaxed))")
    }
    for (key, cell) in timers.sorted(by: { $0.key < $1.key }) {
      head(key, "summary")
      let labels = key.drop { $0 != "{" }
      lines.append("\(last)_sum\(labels) \(Double(cell.sum.load(ordering: .relaxed)) / 1e9)")
      lines.append("\(last)_count\(labels) \(cell.count.load(ordering: .relaxed))")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension PrometheusRegistry {
  /// The names and values of dimensions are the program's own words, which need no escaping.
  private static func key(_ label: String, _ dimensions: [(String, String)]) -> String {
    if dimensions.isEmpty { return label }
    return label + "{" + dimensions.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",") + "}"
  }

  private static func cell(_ key: String, in table: inout [String: Cell]) -> Cell {
    if let known = table[key] { return known }
    let made = Cell()
    table[key] = made
    return made
  }
}

/// A sum, and of how many.
private final class Cell: CounterHandler, TimerHandler, RecorderHandler, MeterHandler {
  let sum = Atomic<Int64>(0)
  let count = Atomic<Int64>(0)

  func increment(by amount: Int64) { record(amount) }
  func recordNanoseconds(_ duration: Int64) { record(duration) }

  func record(_ value: Int64) {
    sum.wrappingAdd(value, ordering: .relaxed)
    count.wrappingAdd(1, ordering: .relaxed)
  }

  func record(_ value: Double) { record(Int64(value)) }
  func set(_ value: Int64) { sum.store(value, ordering: .relaxed) }
  func set(_ value: Double) { set(Int64(value)) }
  func increment(by amount: Double) { record(Int64(amount)) }
  func decrement(by amount: Double) { record(-Int64(amount)) }
  func reset() { set(Int64(0)) }
}
