// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The name and digest under which an import from a meter is recorded.
package struct MeterSource: Sendable {
  /// `meter`, or the path of a transcript.
  package let name: String
  /// SHA-256 of a transcript; nil for a meter that is plugged in.
  package let digest: String?

  /// A source with this name and digest.
  package init(name: String, digest: String? = nil) {
    self.name = name
    self.digest = digest
  }

  /// The meter that is plugged in.
  package static let meter = MeterSource(name: "meter")
}

/// The settings for the times that a meter shows.
package struct MeterTimes: Sendable {
  /// The zone of the shown times. The meter's clock is compared with the local time in this zone.
  package let zone: LogbookZone
  /// Whether the zone is the logbook's or was given for this import.
  package let zoneBasis: Decision.Basis
  /// The host's time in UTC seconds; nil if its clock is not trusted.
  package let now: Int64?

  /// Settings with this zone and this time.
  package init(zone: LogbookZone, zoneBasis: Decision.Basis = .logbook, now: Int64?) {
    self.zone = zone
    self.zoneBasis = zoneBasis
    self.now = now
  }
}

/// Reads the memory of one meter as one batch: everything, or nothing if the session is interrupted.
package struct MeterIngestor: Ingestor {
  private let driver: any MeterDriver
  private let connection: MeterConnection
  private let source: MeterSource
  private let times: MeterTimes
  private let clock: () -> Int64
  private let contents: MeterContents?
  /// Warnings of the driver and about the meter's clock and newest reading; empty before the meter was read.
  package private(set) var warnings: [String] = []
  /// How many minutes the shown time of the meter was ahead of the base time of its internal clock. There is
  /// one number for each time that a person set the clock.
  private var clockOffsets: [Int] = []
  /// The clock is right if it differs from local time by an offset in `clockOffsets`, give or take this many
  /// seconds.
  private static let maxDriftSeconds: Int64 = 600
  /// The subject of the decision that names the offsets of the meter's clock.
  package static let clockOffsetSubject = "clock-offset"
  /// The maximum number of clock offsets that the decision lists.
  private static let maxOffsets = 5
  /// When the meter was read, in UTC seconds; nil before that.
  package private(set) var generatedAt: Int64?
  /// The meter that was read; nil before it was read.
  package private(set) var meter: MeterReport?

  /// - Parameters:
  ///   - clock: returns the host's time in UTC seconds.
  ///   - contents: what was read from the meter; nil to read it with the first batch.
  package init(
    _ driver: any MeterDriver, _ connection: MeterConnection, source: MeterSource, times: MeterTimes,
    clock: @escaping () -> Int64, contents: MeterContents? = nil
  ) {
    self.contents = contents
    self.driver = driver
    self.connection = connection
    self.source = source
    self.times = times
    self.clock = clock
  }

  /// `meter`, or the path of a transcript.
  package var name: String { source.name }
  /// The driver's id.
  package var format: String { type(of: driver).id }
  /// Always nil, since a meter is not a file.
  package var modifiedAt: Int64? { nil }
  /// Always whole: an interrupted session throws.
  package var end: InputEnd { .whole }
  /// The digest of a transcript.
  package var inputDigest: String? { source.digest }
  /// Always 0, since the connection itself reports the progress.
  package var progress: (done: Int64, total: Int64?) { (0, nil) }
  /// Always nil, since the content of a meter has no header.
  package var header: String? { nil }
  /// Always true: after an error, nothing of a meter is stored.
  package var isIndivisible: Bool { true }

  /// The decisions on driver, unit and zone, and after the session on the offsets of the meter's clock.
  package var decisions: [Decision] {
    [
      Decision("format", format, .read), Decision("unit", "as the meter sends it", .fixed),
      Decision("zone", times.zone.name, times.zoneBasis),
    ] + (clockOffsets.isEmpty ? [] : [Decision(Self.clockOffsetSubject, offsetText, .read)])
  }

  /// The clock offsets as text, for example `base time +600 min, +599 min`.
  private var offsetText: String {
    let named = clockOffsets.prefix(Self.maxOffsets).map { "\($0 < 0 ? "" : "+")\($0) min" }
    let rest = clockOffsets.count - named.count
    return "base time " + named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The zone of the logbook, or of this import.
  package var inputZone: InputZone { InputZone(times.zone, isGiven: times.zoneBasis == .given) }

  /// Reads the whole memory.
  ///
  /// - Throws: `Failure`; the batch is then unchanged.
  package mutating func read(into batch: inout IngestBatch) throws -> Bool {
    let contents = try contents ?? readMemory()
    generatedAt = connection.now()
    let judgement = contents.identity.clock.map { ClockJudgement($0, in: times.zone) }
    meter = MeterReport(identity: contents.identity, clock: judgement, position: contents.position)
    warnings = contents.warnings + warnings(judgement) + warnings(ofNewestReadingIn: contents)
    clockOffsets = contents.clockOffsets
    batch.append(contents, times)
    return false
  }

  /// Reads the meter. An error in a session from a transcript becomes an error about that file.
  private func readMemory() throws -> MeterContents {
    do {
      return try driver.read(connection)
    } catch let failure as Failure where source.digest != nil {
      throw Failure(.badInput, "\(name): \(failure.message); nothing was stored")
    }
  }

  /// The warning about the meter's clock. There is none if the host's clock is not trusted, or if a
  /// transcript was recorded later than now.
  private func warnings(_ judgement: ClockJudgement?) -> [String] {
    guard let judgement, times.now != nil, judgement.comparison.host <= clock() + 60 else { return [] }
    return judgement.warning.map { [$0] } ?? []
  }

  /// The warning about a clock that cannot be read, judged by the newest reading.
  ///
  /// If that reading is ahead of local time by one of the meter's clock offsets, there is no warning. The
  /// meter's base time is then the local time, and the clock is right.
  private func warnings(ofNewestReadingIn contents: MeterContents) -> [String] {
    guard contents.identity.clock == nil, times.now != nil, let host = generatedAt, host <= clock() + 60,
      let newest = contents.readings.map(\.deviceTime.seconds).max()
    else { return [] }
    let comparison = ClockComparison(meter: DeviceTime(seconds: newest), host: host)
    let judgement = ClockJudgement(comparison, in: times.zone)
    let offsets = contents.clockOffsets.filter { $0 != 0 }.map { Int64($0) * 60 }
    if offsets.contains(where: { abs(judgement.difference - $0) <= Self.maxDriftSeconds }) { return [] }
    return judgement.warningOfNewestReading.map { [$0] } ?? []
  }
}

extension IngestBatch {
  /// Appends the content of a meter, which is the only device of the batch.
  fileprivate mutating func append(_ contents: MeterContents, _ times: MeterTimes) {
    let device = contents.identity.device
    var zone = times.zone
    let plausible = PlausibleTimes(now: times.now)
    devices = [device]
    rejections += contents.rejections
    skipped.merge(contents.skipped, uniquingKeysWith: +)
    for (index, source) in contents.readings.enumerated() {
      var reading = Reading(source, &zone, line: Int64(index) + 1)
      _ = plausible.judge(&reading)
      readings.append(reading)
    }
    for (index, source) in contents.records.enumerated() {
      records.append(ImportedRecord(source, of: device, &zone, line: Int64(index) + 1))
    }
  }
}

extension Reading {
  fileprivate init(_ source: MeterReading, _ zone: inout LogbookZone, line: Int64) {
    let device = DeviceIndex(0)
    let placement = zone.placement(of: source.deviceTime, statedOffset: source.utcOffset)
    if let tick = source.tick {
      self.init(
        device: device, kind: source.kind, tick: tick, at: source.deviceTime, placement: placement,
        source.measurement, marks: source.marks, line: line)
    } else {
      self.init(
        device: device, kind: source.kind, at: source.deviceTime, placement: placement, source.measurement,
        marks: source.marks, line: line)
    }
  }
}

extension ImportedRecord {
  /// A record from a meter. Its id gets the meter's serial number or model as a prefix, since ids are unique
  /// only within one meter.
  fileprivate init(_ source: MeterRecord, of device: Device, _ zone: inout LogbookZone, line: Int64) {
    let owner = device.serial.isEmpty ? device.model : device.serial
    self.init(
      kind: source.kind, at: source.deviceTime, placement: zone.placement(of: source.deviceTime),
      fields: source.fields, sourceID: source.sourceID.isEmpty ? "" : "\(owner) \(source.sourceID)",
      owner: owner, line: line)
  }
}
