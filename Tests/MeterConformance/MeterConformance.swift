// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import SimulatedMeters
import SimulatedUSB
import Testing

/// The rules for every driver with each of its simulated meters. A module with drivers runs them in its
/// tests.
package struct MeterConformance: Sendable {
  /// A rule for each driver with each meter.
  package enum Rule: String, CaseIterable, Sendable {
    case readsEveryItemOfTheMeter
    case readsNothingFromAnEmptyMeter
    case readsAFullMemory
    case marksValuesOutOfRange
    case returnsNothingThatAnImportRejects
    case returnsTheSameValuesInEitherDisplayUnit
    case reportsAWrongClockAndKeepsTimes
    case identifiesTheSameDeviceAsReading
    case returnsTheSameInASecondRead
    case statesTheDeviceFirst
    case stopsAtAnotherMeterWhichStaysReadable
    case setsTheClockInTheSessionThatIdentifies
    case returnsNoWrongValueForAFlippedBit
    case returnsNoWrongValueForATruncatedPacket
    case returnsNoWrongValueForAnExtraPacket
    case endsOnStallsAndSilence
    case reportsAnUnpluggedMeterAsUnavailable
    case canReadAfterAnInterruptedSession
    case endsASessionThatReceivesNothingNew
  }

  /// Each driver with each of its simulated meters.
  package let trials: [DriverTrial]
  private let drivers: [any MeterDriver.Type]
  /// The ids of drivers whose meters do not state their clock, so that there is no clock to compare.
  private let clockless: Set<String>
  /// The ids of drivers whose meters are disks, which are read completely before the device is known.
  private let disks: Set<String>

  /// - Parameters:
  ///   - clockless: the ids of drivers whose meters state no clock.
  ///   - disks: the ids of drivers whose meters are disks.
  package init(
    _ drivers: [any MeterDriver.Type], meters: [SimulatedFamily], clockless: Set<String> = [],
    disks: Set<String> = []
  ) {
    self.drivers = drivers
    self.clockless = clockless
    self.disks = disks
    trials = DriverTrial.all(drivers, with: meters)
  }

  /// Checks the register: each driver has a simulated meter, a unique id in plain letters, and devices that
  /// no other driver claims.
  package func checkRegister() {
    let simulated = Set(trials.map { $0.driver.id })
    #expect(drivers.map { $0.id }.filter { !simulated.contains($0) } == [])
    let ids = drivers.map { $0.id }
    #expect(Set(ids).count == ids.count)
    for id in ids { #expect(id.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }, "\(id)") }
    let unasked = drivers.flatMap { driver in
      Set(driver.models.filter { !$0.isShared }.map { UInt32($0.vendorID) << 16 | UInt32($0.productID) })
    }
    #expect(Set(unasked).count == unasked.count)
  }

  /// Checks one rule with one meter.
  package func check(_ rule: Rule, of trial: DriverTrial) throws {
    switch rule {
    case .readsEveryItemOfTheMeter: try checkVariety(trial)
    case .readsNothingFromAnEmptyMeter: try checkEmpty(trial)
    case .readsAFullMemory: try checkFull(trial)
    case .marksValuesOutOfRange: try checkLimits(trial)
    case .returnsNothingThatAnImportRejects: try checkAmounts(trial)
    case .returnsTheSameValuesInEitherDisplayUnit: try checkUnits(trial)
    case .reportsAWrongClockAndKeepsTimes: try checkWrongClock(trial)
    case .identifiesTheSameDeviceAsReading: try checkIdentity(trial)
    case .returnsTheSameInASecondRead: try checkSecondRead(trial)
    case .statesTheDeviceFirst: try checkOrder(trial)
    case .stopsAtAnotherMeterWhichStaysReadable: try checkAnotherMeter(trial)
    case .setsTheClockInTheSessionThatIdentifies: try checkClockSetting(trial)
    case .returnsNoWrongValueForAFlippedBit: #expect(try trial.complaints(Self.corruptions) == [])
    case .returnsNoWrongValueForATruncatedPacket: #expect(try trial.complaints([.shorten]) == [])
    case .returnsNoWrongValueForAnExtraPacket: #expect(try trial.complaints([.extra]) == [])
    case .endsOnStallsAndSilence: #expect(try trial.complaints([.stall, .silence]) == [])
    case .reportsAnUnpluggedMeterAsUnavailable: #expect(try trial.complaints([.unplug]) == [])
    case .canReadAfterAnInterruptedSession: try checkRecovery(trial)
    case .endsASessionThatReceivesNothingNew: try checkSilence(trial)
    }
  }
}

extension MeterConformance {
  private static let corruptions = [150, 500, 850].map { Fault.Kind.corrupt(place: $0) }

  private func checkVariety(_ trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.variety)).result.get()
    #expect(DriverTrial.difference(contents, trial.variety.items) == nil)
    #expect(contents.rejections.isEmpty)
  }

  private func checkEmpty(_ trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.memory([]))).result.get()
    #expect(contents.readings.isEmpty)
    #expect(contents.rejections.isEmpty)
    #expect(contents.identity.count ?? 0 == 0)
  }

  private func checkFull(_ trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.full)).result.get()
    #expect(DriverTrial.difference(contents, trial.full.items) == nil)
  }

  private func checkLimits(_ trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.limits)).result.get()
    #expect(DriverTrial.difference(contents, trial.limits.items) == nil)
  }

  /// Checks that the largest amounts a meter can show pass the check for implausible amounts.
  private func checkAmounts(_ trial: DriverTrial) throws {
    for memory in [trial.variety, trial.full, trial.limits] {
      let contents = try trial.read(trial.meter(memory)).result.get()
      for reading in contents.readings {
        guard let quantity = reading.measurement.quantity else { continue }
        let range =
          reading.kind == .ketone
          ? PlausibleAmounts.ketones(quantity.unit) : PlausibleAmounts.glucose(quantity.unit)
        #expect(range.contains(quantity.number), "\(quantity)")
      }
      for record in contents.records {
        #expect(PlausibleAmounts.fault(of: record.fields, record.kind) == nil, "\(record.fields.json)")
      }
    }
  }

  /// Checks that a session ends if the meter sends no new record for long: each exchange takes three minutes.
  private func checkSilence(_ trial: DriverTrial) throws {
    let outcome = try trial.read(trial.meter(trial.variety), secondsOfExchange: 180)
    let failure = #expect(throws: Failure.self) { try outcome.result.get() }
    #expect(failure?.category == .protocolViolation, "\(String(describing: failure))")
    #expect(failure?.message.contains("the meter sent no new record for 2 minutes") == true)
    #expect(outcome.host.exchanges < 10)
  }

  private func checkUnits(_ trial: DriverTrial) throws {
    for unit in GlucoseUnit.allCases {
      var memory = trial.variety
      memory.unit = unit
      let contents = try trial.read(trial.meter(memory)).result.get()
      #expect(DriverTrial.difference(contents, memory.items) == nil, "\(unit)")
    }
  }

  private func checkWrongClock(_ trial: DriverTrial) throws {
    for offset in [-10_800, 0, 7200] as [Int64] {
      let now = DriverTrial.noon.seconds + offset
      let contents = try trial.read(trial.meter(trial.variety), now: now).result.get()
      #expect(DriverTrial.difference(contents, trial.variety.items) == nil)
      #expect((contents.identity.clock == nil) == clockless.contains(trial.driver.id))
      if let clock = contents.identity.clock {
        #expect(clock.host == now)
        #expect(abs(clock.meter.seconds - DriverTrial.noon.seconds) < 60)
      }
    }
  }

  private func checkIdentity(_ trial: DriverTrial) throws {
    let identity = try trial.identify(trial.meter(trial.variety))
    let contents = try trial.read(trial.meter(trial.variety)).result.get()
    #expect(identity.device == contents.identity.device)
    #expect(identity.firmware == contents.identity.firmware)
    #expect(!identity.device.vendor.isEmpty && !identity.device.model.isEmpty)
    #expect(identity.device.format == trial.driver.id)
  }

  private func checkSecondRead(_ trial: DriverTrial) throws {
    let meter = trial.meter(trial.variety)
    let first = try trial.read(meter).result.get()
    let second = try trial.read(trial.again(meter, trial.variety)).result.get()
    #expect(Set(first.readings) == Set(second.readings))
    #expect(first.identity.device == second.identity.device)
  }

  private func checkOrder(_ trial: DriverTrial) throws {
    var reported: [Device] = []
    let contents = try trial.read(trial.meter(trial.variety)) { reported.append($0.device) }.result.get()
    #expect(reported == [contents.identity.device])
  }

  private func checkAnotherMeter(_ trial: DriverTrial) throws {
    let meter = trial.meter(trial.full)
    let whole = try trial.read(trial.meter(trial.full)).host.exchanges
    let outcome = try trial.read(meter) { _ in throw IsAnotherMeter() }
    #expect(throws: IsAnotherMeter.self) { try outcome.result.get() }
    #expect(outcome.host.exchanges < whole || disks.contains(trial.driver.id))
    let contents = try trial.read(trial.again(meter, trial.full)).result.get()
    #expect(DriverTrial.difference(contents, trial.full.items) == nil)
  }

  private func checkClockSetting(_ trial: DriverTrial) throws {
    guard trial.driver.canSetClock else { return try checkClockRefusal(trial) }
    let meter = trial.meter(trial.variety)
    let refused = trial.meter(trial.variety)
    #expect(throws: IsAnotherMeter.self) { try trial.setClock(refused) { _ in throw IsAnotherMeter() } }
    var before: MeterIdentity?
    try trial.setClock(meter) { identity in
      before = identity
      return DeviceTime(seconds: DriverTrial.noon.seconds + 86400)
    }
    let identity = try trial.identify(trial.meter(trial.variety))
    #expect(before?.device == identity.device)
    // A meter that answers only once after plug-in cannot be asked again, and some clocks can be set but not
    // read.
    if !trial.family.answersOnce, let shown = identity.clock?.meter {
      #expect(try trial.identify(refused).clock?.meter == shown)
      #expect(try trial.identify(meter).clock?.meter.seconds == DriverTrial.noon.seconds + 86400)
    }
  }

  private func checkClockRefusal(_ trial: DriverTrial) throws {
    let meter = trial.meter(trial.variety)
    let failure = #expect(throws: Failure.self) { try trial.setClock(meter) { _ in DriverTrial.noon } }
    #expect(failure?.category == .usage)
  }

  private func checkRecovery(_ trial: DriverTrial) throws {
    let memory = trial.variety
    let clean = try trial.read(trial.meter(memory)).host
    for packet in stride(from: 0, to: clean.received, by: max(1, clean.received / 40)) {
      for kind in [Fault.Kind.corrupt(place: 500), .shorten] {
        let meter = trial.meter(memory)
        _ = try trial.disturbed(meter, Fault(kind, at: packet), clean.exchanges)
        let contents = try trial.read(trial.again(meter, memory)).result.get()
        #expect(DriverTrial.difference(contents, memory.items) == nil, "\(kind) at \(packet)")
      }
    }
  }
}

/// Thrown by a caller that looks for another meter.
private struct IsAnotherMeter: Error {}
