// SPDX-License-Identifier: Apache-2.0

import Logbook

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
