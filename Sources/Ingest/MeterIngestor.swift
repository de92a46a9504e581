// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// Where the bytes of a meter's memory come from.
package struct MeterSource: Sendable {
  /// `meter`, or the path of a transcript.
  package let name: String
  /// SHA-256 of a transcript; nil for a meter that is plugged in.
  package let digest: String?

  /// A source with its name.
  package init(name: String, digest: String? = nil) {
    self.name = name
    self.digest = digest
  }

  /// The meter that is plugged in.
  package static let meter = MeterSource(name: "meter")
}

/// How an import reads the times that a meter shows.
package struct MeterTimes: Sendable {
  /// Places the shown times; its local time is what the meter's clock is held against.
  package let zone: LogbookZone
  /// Whether it is the logbook's or was given.
  package let zoneBasis: Decision.Basis
  /// The host's time in UTC seconds; nil where its clock may not judge others.
  package let now: Int64?

  /// Times that this zone places and this clock judges.
  package init(zone: LogbookZone, zoneBasis: Decision.Basis = .logbook, now: Int64?) {
    self.zone = zone
    self.zoneBasis = zoneBasis
    self.now = now
  }
}

/// Reads all that one meter holds as one batch: everything or, when the session is interrupted, nothing.
package struct MeterIngestor: Ingestor {
  private let driver: any MeterDriver
  private let connection: MeterConnection
  private let source: MeterSource
  private let times: MeterTimes
  private let clock: () -> Int64
  /// What the driver and the comparison of the clocks found.
  package private(set) var warnings: [String] = []
  /// When the meter was read.
  package private(set) var generatedAt: Int64?
  /// Which meter was read.
  package private(set) var meter: MeterReport?

  /// - Parameter clock: returns the host's time in UTC seconds.
  package init(
    _ driver: any MeterDriver, _ connection: MeterConnection, source: MeterSource, times: MeterTimes,
    clock: @escaping () -> Int64
  ) {
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
  /// Nil.
  package var modifiedAt: Int64? { nil }
  /// A session that did not come to its end throws.
  package var end: InputEnd { .whole }
  /// Of a transcript.
  package var inputDigest: String? { source.digest }
  /// The connection itself reports how far it is.
  package var progress: (done: Int64, total: Int64?) { (0, nil) }
  /// Nil.
  package var header: String? { nil }
  /// Always.
  package var isIndivisible: Bool { true }

  /// Driver, unit and zone.
  package var decisions: [Decision] {
    [
      Decision("format", format, .read), Decision("unit", "as the meter sends it", .fixed),
      Decision("zone", times.zone.name, times.zoneBasis),
    ]
  }

  /// That of the logbook, or of this import.
  package var inputZone: InputZone { InputZone(times.zone, isGiven: times.zoneBasis == .given) }

  /// Reads the whole memory.
  ///
  /// - Throws: `Failure`; the batch is as it was then.
  package mutating func read(into batch: inout IngestBatch) throws -> Bool {
    let contents = try readMemory()
    generatedAt = connection.now()
    let judgement = contents.identity.clock.map { ClockJudgement($0, in: times.zone) }
    meter = MeterReport(identity: contents.identity, clock: judgement)
    warnings = contents.warnings + warnings(judgement)
    batch.append(contents, times)
    return false
  }

  /// Whatever goes wrong in a session that is only read is wrong in the file.
  private func readMemory() throws -> MeterContents {
    do {
      return try driver.read(connection)
    } catch let failure as Failure where source.digest != nil {
      throw Failure(.badInput, "\(name): \(failure.message); nothing was stored")
    }
  }

  /// A host clock that is not to be trusted says nothing of a meter's, nor does that of a transcript from the future.
  private func warnings(_ judgement: ClockJudgement?) -> [String] {
    guard let judgement, times.now != nil, judgement.comparison.host <= clock() + 60 else { return [] }
    return judgement.warning.map { [$0] } ?? []
  }
}

extension IngestBatch {
  /// Appends what a meter holds, which is the only device of the batch.
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
    let placement = zone.place(source.deviceTime, statedOffset: source.utcOffset)
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
  /// An id of a meter's record is one of this meter only.
  fileprivate init(_ source: MeterRecord, of device: Device, _ zone: inout LogbookZone, line: Int64) {
    let owner = device.serial.isEmpty ? device.model : device.serial
    self.init(
      kind: source.kind, at: source.deviceTime, placement: zone.place(source.deviceTime),
      fields: source.fields, sourceID: source.sourceID.isEmpty ? "" : "\(owner) \(source.sourceID)",
      owner: owner, line: line)
  }
}
