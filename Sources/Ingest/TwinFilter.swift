// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Logbook
package import LogbookStore

/// Leaves out sensor values that the store already has from an earlier response of the same service, but with
/// another identity.
///
/// A source is fetched again and again, so without this filter each of these values would be stored twice or
/// more. Three causes are known from recorded responses:
/// - Phone and watch both send a value to Dexcom Share, 9 to 10 seconds apart (loopandlearn/LoopFollow issue
///   661).
/// - The seconds of a value may differ between two responses of LibreLinkUp.
/// - xDrip+ leaves out the name of the device with `brief_mode=Y`.
///
/// Two different values of Dexcom Share within half a minute are two measurements. LibreLinkUp returns the
/// history of a sensor, which has one value a minute, so the stored value is kept. xDrip+ returns values as
/// shown, which a calibration changes, so they are recognised by their time in milliseconds.
package struct TwinFilter: Ingestor {
  /// The maximum distance of two times of one value. Sensors send a value once a minute at most.
  private static let reachSeconds: Int64 = 30
  /// The maximum period of a response that is filtered. No service returns a longer one, so a longer input is
  /// an export.
  private static let maxPeriodSeconds: Int64 = 40 * 86400

  private struct KnownValue {
    let second: Int64
    /// The tick of the value, in the unit of its format.
    let position: Int64
    let measurement: Measurement
    let device: Device
  }

  private var reader: InputReader
  /// The values of the store and of this response, by their time in minutes since 1970.
  private var known: [Int64: [KnownValue]] = [:]
  /// The reason under which an import counts a value that equals the stored one.
  package static let reason = "value that is stored from an earlier answer"
  /// The reason under which an import counts a value that differs from the stored one.
  package static let otherValueReason = "value that differs from the stored one of its time, which is kept"

  /// The formats of services that return the same value under different identities.
  private static let formats: Set<String> = ["dexcom-share", "librelinkup", "nightscout"]

  /// - Parameters:
  ///   - values: the instants of the oldest and the newest sensor value in the response; nil without any.
  ///   - store: the store that has the values of earlier responses.
  /// - Throws: `Failure` if the store cannot be read.
  package init(_ reader: InputReader, values: ClosedRange<Int64>?, in store: Store) throws {
    self.reader = reader
    guard let values, Self.formats.contains(reader.format),
      values.upperBound - values.lowerBound <= Self.maxPeriodSeconds
    else { return }
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = ([.cbg], [])
    (filter.since, filter.until) = (
      values.lowerBound - Self.reachSeconds, values.upperBound + Self.reachSeconds + 1
    )
    filter.includesWithdrawn = true
    let format = reader.format
    filter.includesDevice = { $0.format == format || (format == "nightscout" && $0.vendor == "Nightscout") }
    var found: [Int64: [KnownValue]] = [:]
    try store.forEachItem(filter) { item in
      guard case .reading(let reading) = item, reading.positionKind == .tick else { return }
      let one = KnownValue(
        second: reading.utc, position: reading.position, measurement: reading.measurement,
        device: reading.device)
      found[one.second / 60, default: []].append(one)
    }
    known = found
  }

  package mutating func read(into batch: inout IngestBatch) throws -> Bool {
    let hasMore = try reader.read(into: &batch)
    guard Self.formats.contains(reader.format) else { return hasMore }
    let devices = batch.devices
    var leftOut: [String: Int] = [:]
    batch.readings.removeAll { reading in
      guard reading.kind == .cbg, reading.positionKind == .tick,
        devices.indices.contains(Int(reading.device.number))
      else { return false }
      let one = KnownValue(
        second: reading.deviceTime.seconds - Int64(reading.placement.utcOffset), position: reading.position,
        measurement: reading.measurement, device: devices[Int(reading.device.number)])
      if let twin = twin(of: one) {
        leftOut[twin.agrees(with: one.measurement) ? Self.reason : Self.otherValueReason, default: 0] += 1
        return true
      }
      known[one.second / 60, default: []].append(one)
      return false
    }
    batch.skipped.merge(leftOut) { $0 + $1 }
    return hasMore
  }

  /// The value that is already known under another identity and means the same measurement. Nil if there is
  /// none, or if the value is known under its own identity.
  private func twin(of one: KnownValue) -> Measurement? {
    let minute = one.second / 60
    let near = (minute - 1...minute + 1).flatMap { known[$0] ?? [] }
    // A value that is known under its own identity is not a twin, whatever other values are close to it.
    if near.contains(where: { $0.position == one.position && $0.device == one.device }) { return nil }
    let twins = near.filter { other in
      if reader.format == "nightscout" { return other.position == one.position && isUnnamed(other, one) }
      return other.device == one.device && abs(other.second - one.second) <= Self.reachSeconds
    }
    let equal = twins.first { $0.measurement.agrees(with: one.measurement) }
    return (equal ?? (reader.format == "dexcom-share" ? nil : twins.first))?.measurement
  }

  /// Whether exactly one of two values names its device. If neither does, the site counts as the device of
  /// both, and they are compared by their identity.
  private func isUnnamed(_ one: KnownValue, _ other: KnownValue) -> Bool {
    (one.device.model == Self.unnamed) != (other.device.model == Self.unnamed)
  }
  /// The device model for Nightscout documents that name no device.
  private static let unnamed = "Nightscout"

  // MARK: - Properties of the export

  package var name: String { reader.name }
  package var format: String { reader.format }
  package var decisions: [Decision] { reader.decisions }
  package var warnings: [String] { reader.warnings }
  package var doubts: [String] { reader.doubts }
  package var generatedAt: Int64? { reader.generatedAt }
  package var modifiedAt: Int64? { reader.modifiedAt }
  package var end: InputEnd { reader.end }
  package var inputDigest: String? { reader.inputDigest }
  package var progress: (done: Int64, total: Int64?) { reader.progress }
  package var header: String? { reader.header }
  package var isIndivisible: Bool { false }
  package var meter: MeterReport? { nil }
  package var inputZone: InputZone { reader.inputZone }
  package var statedPersons: [StatedPerson] { reader.statedPersons }
}
