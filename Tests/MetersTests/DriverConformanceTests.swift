// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import SimulatedMeters
import SimulatedUSB
import Testing

/// What every driver of the register must do, with each of its simulated meters.
struct DriverConformanceTests {
  private static let corruptions = [150, 500, 850].map { Fault.Kind.corrupt(place: $0) }

  @Test func everyDriverHasASimulatedMeter() {
    let simulated = Set(SimulatedRegister.all.map(\.driver))
    #expect(DriverRegister.all.map { $0.id }.filter { !simulated.contains($0) } == [])
  }

  @Test func idsAreTakenOnceAndPlain() {
    let ids = DriverRegister.all.map { $0.id }
    #expect(Set(ids).count == ids.count)
    for id in ids { #expect(id.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }, "\(id)") }
  }

  @Test func noTwoDriversWantTheSameDeviceUnasked() {
    let unasked = DriverRegister.all.flatMap { driver in
      Set(driver.models.filter { !$0.isShared }.map { UInt32($0.vendorID) << 16 | UInt32($0.productID) })
    }
    #expect(Set(unasked).count == unasked.count)
  }

  @Test(arguments: DriverTrial.all) func everythingThatTheMeterHoldsIsRead(trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.variety)).result.get()
    #expect(DriverTrial.difference(contents, trial.variety.items) == nil)
    #expect(contents.rejections.isEmpty)
  }

  @Test(arguments: DriverTrial.all) func anEmptyMeterHasNothingToRead(trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.memory([]))).result.get()
    #expect(contents.readings.isEmpty)
    #expect(contents.rejections.isEmpty)
    #expect(contents.identity.count ?? 0 == 0)
  }

  @Test(arguments: DriverTrial.all) func aFullMemoryIsRead(trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.full)).result.get()
    #expect(DriverTrial.difference(contents, trial.full.items) == nil)
  }

  @Test(arguments: DriverTrial.all) func valuesOutOfRangeAreNoNumbers(trial: DriverTrial) throws {
    let contents = try trial.read(trial.meter(trial.limits)).result.get()
    #expect(DriverTrial.difference(contents, trial.limits.items) == nil)
  }

  @Test(arguments: DriverTrial.all, GlucoseUnit.allCases)
  func theShownUnitChangesNoValue(trial: DriverTrial, unit: GlucoseUnit) throws {
    var memory = trial.variety
    memory.unit = unit
    let contents = try trial.read(trial.meter(memory)).result.get()
    #expect(DriverTrial.difference(contents, memory.items) == nil)
  }

  @Test(arguments: DriverTrial.all, [-10_800, 0, 7200] as [Int64])
  func aWrongClockIsComparedAndShiftsNothing(trial: DriverTrial, offset: Int64) throws {
    let now = DriverTrial.noon.seconds + offset
    let contents = try trial.read(trial.meter(trial.variety), now: now).result.get()
    #expect(DriverTrial.difference(contents, trial.variety.items) == nil)
    // These meters state no clock, so that there is nothing to compare.
    let isClockless = ["accu-chek-mobile", "glucomen-areo"].contains(trial.driver.id)
    #expect((contents.identity.clock == nil) == isClockless)
    if let clock = contents.identity.clock {
      #expect(clock.host == now)
      #expect(abs(clock.meter.seconds - DriverTrial.noon.seconds) < 60)
    }
  }

  @Test(arguments: DriverTrial.all) func identifyingAndReadingNameTheSameDevice(trial: DriverTrial) throws {
    let identity = try trial.identify(trial.meter(trial.variety))
    let contents = try trial.read(trial.meter(trial.variety)).result.get()
    #expect(identity.device == contents.identity.device)
    #expect(identity.firmware == contents.identity.firmware)
    #expect(!identity.device.vendor.isEmpty && !identity.device.model.isEmpty)
    #expect(identity.device.format == trial.driver.id)
  }

  @Test(arguments: DriverTrial.all) func aSecondReadGivesTheSame(trial: DriverTrial) throws {
    let meter = trial.meter(trial.variety)
    let first = try trial.read(meter).result.get()
    let second = try trial.read(trial.again(meter, trial.variety)).result.get()
    #expect(Set(first.readings) == Set(second.readings))
    #expect(first.identity.device == second.identity.device)
  }

  @Test(arguments: DriverTrial.all) func aReadTellsFirstWhichMeterItIs(trial: DriverTrial) throws {
    var told: [Device] = []
    let contents = try trial.read(trial.meter(trial.variety)) { told.append($0.device) }.result.get()
    #expect(told == [contents.identity.device])
  }

  @Test(arguments: DriverTrial.all) func aMeterThatIsAnotherOneIsLeftInPeace(trial: DriverTrial) throws {
    let meter = trial.meter(trial.full)
    let whole = try trial.read(trial.meter(trial.full)).host.exchanges
    let outcome = try trial.read(meter) { _ in throw IsAnotherMeter() }
    #expect(throws: IsAnotherMeter.self) { try outcome.result.get() }
    // A report on a disk is read as one.
    #expect(outcome.host.exchanges < whole || trial.driver.id == "accu-chek-mobile")
    let contents = try trial.read(trial.again(meter, trial.full)).result.get()
    #expect(DriverTrial.difference(contents, trial.full.items) == nil)
  }

  @Test(arguments: DriverTrial.all.filter { $0.driver.canSetClock })
  func theClockIsSetInTheTalkThatTellsWhichMeterItIs(trial: DriverTrial) throws {
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
    // A meter that talks once after it was plugged in cannot be asked again, and some are set without a word of their clock.
    if !trial.family.talksOnce, let shown = identity.clock?.meter {
      #expect(try trial.identify(refused).clock?.meter == shown)
      #expect(try trial.identify(meter).clock?.meter.seconds == DriverTrial.noon.seconds + 86400)
    }
  }

  @Test(arguments: DriverTrial.all) func aTurnedBitGivesNoWrongValue(trial: DriverTrial) throws {
    #expect(try trial.complaints(Self.corruptions) == [])
  }

  @Test(arguments: DriverTrial.all) func aShortPacketGivesNoWrongValue(trial: DriverTrial) throws {
    #expect(try trial.complaints([.shorten]) == [])
  }

  @Test(arguments: DriverTrial.all) func aPacketTooMuchGivesNoWrongValue(trial: DriverTrial) throws {
    #expect(try trial.complaints([.extra]) == [])
  }

  @Test(arguments: DriverTrial.all) func stallsAndSilenceEndTheRead(trial: DriverTrial) throws {
    #expect(try trial.complaints([.stall, .silence]) == [])
  }

  @Test(arguments: DriverTrial.all) func aPulledPlugEndsTheReadAsUnavailable(trial: DriverTrial) throws {
    #expect(try trial.complaints([.unplug]) == [])
  }

  @Test(arguments: DriverTrial.all) func aMeterCanBeReadAfterABrokenTalk(trial: DriverTrial) throws {
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

/// What a person throws who looks for another meter.
private struct IsAnotherMeter: Error {}
