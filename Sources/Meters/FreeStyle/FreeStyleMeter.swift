// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The shared part of the FreeStyle drivers: identity, clock, and reading of tables.
struct FreeStyleMeter {
  /// One table of the memory.
  struct Table {
    /// The command that requests it.
    let command: String
    /// The field with the record's number.
    let numberField: Int
    /// The fields of a row with its time and kind, and without anything that a person measured, took or wrote.
    let plainFields: @Sendable (FreeStyleRow) -> Set<Int>
    /// Adds one row of it.
    let take: @Sendable (FreeStyleRow, inout FreeStyleMemory) -> Void
  }

  /// The driver's id.
  let driver: String
  /// The command that requests the serial number.
  let serialCommand: String
  /// The tables that make up the memory.
  let tables: [Table]

  /// A meter that sends its strip tests as rows of `$result?`.
  static func strips(
    driver: String, plainFields: @escaping @Sendable (FreeStyleRow) -> Set<Int>,
    take: @escaping @Sendable (FreeStyleRow, inout FreeStyleMemory) -> Void
  ) -> FreeStyleMeter {
    FreeStyleMeter(
      driver: driver, serialCommand: "$serlnum?",
      tables: [Table(command: "$result?", numberField: 1, plainFields: plainFields, take: take)])
  }

  /// The identity of the meter.
  func identify(_ meter: MeterConnection, textType: UInt8) throws -> MeterIdentity {
    try identity(try opened(meter, textType), meter)
  }

  /// Reads the complete memory.
  func read(_ meter: MeterConnection, textType: UInt8) throws -> MeterContents {
    let session = try opened(meter, textType)
    let identity = try identity(session, meter)
    try meter.onIdentity(identity)
    var memory = FreeStyleMemory(identity)
    for table in tables {
      guard let rows = try session.dump(table.command) else {
        throw Failure(.protocolViolation, "reading the memory: the meter refuses \(table.command)")
      }
      memory.take(rows, numberedBy: table.numberField, table.take)
    }
    return memory.contents
  }

  /// Sets the clock, which has no seconds.
  func setClock(
    _ meter: MeterConnection, to time: DeviceTime, textType: UInt8
  ) throws {
    let parts = time.parts
    guard (2000...2099).contains(parts.year) else {
      throw Failure(.usage, "this meter accepts only the years 2000 to 2099")
    }
    let session = try opened(meter, textType)
    for command in [
      "$date,\(parts.month),\(parts.day),\(parts.year - 2000)", "$time,\(parts.hour),\(parts.minute)",
    ] {
      guard try session.perform(command) else {
        throw Failure(.protocolViolation, "setting the clock: the meter refuses it")
      }
    }
  }
}

extension FreeStyleMeter {
  private func opened(_ meter: MeterConnection, _ textType: UInt8) throws -> FreeStyleSession {
    let session = FreeStyleSession(meter, textType: textType)
    try session.open()
    return session
  }

  private func identity(_ session: FreeStyleSession, _ meter: MeterConnection) throws -> MeterIdentity {
    guard let serial = try session.request(serialCommand), !serial.isEmpty else {
      throw Failure(
        .protocolViolation, "asking for the serial number: the meter returned none; is it the right driver?")
    }
    let firmware = try session.request("$swver?") ?? ""
    let clock = try clock(session)
    return MeterIdentity(
      device: Device(vendor: "Abbott", model: meter.model.name, serial: serial, format: driver),
      firmware: firmware, clock: clock.map(meter.compareClock))
  }

  /// The time on the clock; nil if the clock was lost, which the meter shows by 255 in every field.
  private func clock(_ session: FreeStyleSession) throws -> DeviceTime? {
    guard let date = try session.request("$date?"), let time = try session.request("$time?") else {
      return nil
    }
    return FreeStyleRow(Array("\(date),\(time)".utf8)[...]).time(0)
  }
}

/// A driver for FreeStyle meters, defined by its serial command, its tables and the meaning of their rows.
protocol FreeStyleFamily: AnonymisingDriver {
  /// The commands and tables of the meter.
  static var meter: FreeStyleMeter { get }
  /// The type of the reports in which this model sends text.
  static func textType(_ model: MeterModel) -> UInt8
}

extension FreeStyleFamily {
  static var canSetClock: Bool { true }

  static func textType(_ model: MeterModel) -> UInt8 { FreeStyleReport.text }

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try Self.meter.identify(meter, textType: Self.textType(meter.model))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    try Self.meter.read(meter, textType: Self.textType(meter.model))
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    try Self.meter.setClock(meter, to: time, textType: Self.textType(meter.model))
  }

  static func anonymise(_ transcript: Transcript) throws -> Transcript { try meter.anonymise(transcript) }
}
