// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The apps and devices that write glucose into Apple Health, and whether they are sensors.
///
/// Well-known sources are recognised by their names, others by the frequency of their values. No sensor
/// states that a value was before or after a meal, so values with this statement are judged separately from
/// others of their source.
struct HealthSources {
  private static let maxKept = 1000
  private static let maxShown = 4

  private struct HealthSource {
    let key: SourceKinds.SourceKey
    let isNamedForSensor: Bool
  }

  private struct Last {
    let name: [UInt8]
    let device: [UInt8]
    let source: HealthSource
  }

  private var kinds = SourceKinds()
  /// The sources and times of the values that state that they were before or after a meal.
  private var markedKinds = SourceKinds()
  private var isNamedForSensor: [SourceKinds.SourceKey: Bool] = [:]
  /// The source of the last value. Values of one source are often consecutive, so it is compared first.
  private var last: Last?

  /// The decision about the kind of the readings: given by a person, or found for each source.
  static func decision(given kind: ReadingKind?) -> Decision {
    kind.map { Decision("kind", $0.name, .given) } ?? Decision("kind", Decision.kindOfEachDevice, .inferred)
  }

  /// Records the time of a value in UTC seconds, before `decide` finds the kind of its source.
  mutating func observe(_ seconds: Int64, name: Field, device: Field, isMarked: Bool) {
    let source = find(name, device)
    if isMarked {
      markedKinds.observe(seconds, of: source.key, label: SourceKinds.Label(texts: [name.text]))
    } else if !source.isNamedForSensor {
      kinds.observe(seconds, of: source.key, label: SourceKinds.Label(texts: [name.text]))
    }
  }

  mutating func decide() {
    kinds.decide()
    markedKinds.decide()
  }

  /// The kind of reading that a value is. Call this after `decide`.
  mutating func kind(name: Field, device: Field, isMarked: Bool) -> ReadingKind {
    let source = find(name, device)
    if source.isNamedForSensor, !isMarked { return .cbg }
    return (isMarked ? markedKinds : kinds).deviceKind(of: source.key) == .sensor ? .cbg : .smbg
  }

  /// A warning about sources with too few values to show whether they are sensors.
  var warnings: [String] {
    let names = kinds.labels(of: .unknown).map(\.name).filter { !$0.isEmpty }
    if names.isEmpty { return [] }
    let shown = names.prefix(Self.maxShown).map(shownName).joined(separator: ", ")
    return [
      "too few values to show whether a sensor took them: those of \(shown)\(names.count > Self.maxShown ? ", …" : ""); they are "
        + "finger sticks here. If a sensor took them, undo this import, and import again when there are more"
    ]
  }

  private mutating func find(_ name: Field, _ device: Field) -> HealthSource {
    if let last, name.hasSameBytes(as: last.name), device.hasSameBytes(as: last.device) { return last.source }
    var key = SourceKinds.SourceKey()
    key.add(name.trimmed.bytes)
    key.add(Self.stablePart(of: device).utf8)
    let isNamed = isNamedForSensor[key] ?? SourceName.isSensor(name.text + "\n" + device.text)
    if isNamedForSensor.count < Self.maxKept { isNamedForSensor[key] = isNamed }
    let source = HealthSource(key: key, isNamedForSensor: isNamed)
    last = Last(name: Array(name.bytes), device: Array(device.bytes), source: source)
    return source
  }

  /// The parts of a device's text that stay the same: name, maker and model. The text begins with an address
  /// in memory and ends with versions, which change.
  private static func stablePart(of device: Field) -> String {
    let text = device.text
    guard text.contains("HKDevice"), let start = text.firstIndex(of: ",") else { return text }
    let parts = text[start...].split(separator: ",").map { $0.drop { $0 == " " } }
    let kept = ["name:", "manufacturer:", "model:"]
    return parts.filter { part in kept.contains { part.hasPrefix($0) } }.joined(separator: ",")
  }
}
