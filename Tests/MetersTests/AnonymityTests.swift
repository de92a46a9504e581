// SPDX-License-Identifier: Apache-2.0

import Logbook
import MeterConformance
import Meters
import SeededRandom
import SimulatedMeters
import SimulatedUSB
import Testing

/// Tests rules that hold for every driver that can remove personal data from a transcript. Each driver is
/// tested with each of its simulated meters.
struct AnonymityTests {
  private static let able = DriverTrial.all.filter { $0.driver is any AnonymisingDriver.Type }
  private static let unable = DriverTrial.all.filter { !($0.driver is any AnonymisingDriver.Type) }

  /// The memories of two people: equal times, kinds and marks, and different values of equal length.
  private static func memory(_ trial: DriverTrial, isOther: Bool) -> SimulatedMemory {
    var memory = trial.variety
    memory.serial = isOther ? "SIM-7654321" : "SIM-1234567"
    guard isOther else { return memory }
    for index in memory.items.indices {
      guard case .value(let quantity) = memory.items[index].measurement else { continue }
      let step = quantity.unit == .milligramsPerDecilitre ? 2.0 : 0.1
      memory.items[index].measurement = .value(Quantity(quantity.number + step, quantity.unit))
    }
    return memory
  }

  private static func record(_ trial: DriverTrial, _ memory: SimulatedMemory) throws -> Transcript {
    try trial.record(trial.meter(memory))
  }

  private static func replay(_ trial: DriverTrial, _ transcript: Transcript) throws -> MeterContents {
    let transport = ReplayedTransport(transcript)
    let model = try transcript.replay(named: "session").meter.model
    let now = DriverTrial.noon.seconds
    let contents = try trial.driver.init().read(MeterConnection(transport, model: model) { now })
    #expect(transport.isExhausted)
    return contents
  }

  @Test(arguments: able) func anAnonymisedSessionKeepsTimesAndMarksAndReplacesValues(trial: DriverTrial)
    throws
  {
    let original = try Self.record(trial, Self.memory(trial, isOther: false))
    let before = try Self.replay(trial, original)
    let transcript = try original.anonymised(by: trial.driver)
    let after = try Self.replay(trial, transcript)
    #expect(transcript.isAnonymised)
    #expect(after.identity.device.serial != before.identity.device.serial)
    #expect(after.identity.device.serial.count == before.identity.device.serial.count)
    #expect(after.identity.clock == before.identity.clock)
    #expect(after.readings.map(\.deviceTime) == before.readings.map(\.deviceTime))
    #expect(after.readings.map(\.kind) == before.readings.map(\.kind))
    #expect(after.readings.map(\.marks) == before.readings.map(\.marks))
    for (reading, other) in zip(before.readings, after.readings) {
      #expect(reading.measurement != other.measurement, "\(reading)")
    }
    #expect(after.rejections.isEmpty && after.skipped == before.skipped)
  }

  @Test(arguments: able) func anonymisedSessionsThatDifferedOnlyInPersonalDataAreEqual(trial: DriverTrial)
    throws
  {
    let sessions = try [false, true].map { try Self.record(trial, Self.memory(trial, isOther: $0)) }
    #expect(sessions[0] != sessions[1])
    #expect(try sessions[0].anonymised(by: trial.driver) == sessions[1].anonymised(by: trial.driver))
  }

  @Test(arguments: able) func aDamagedSessionIsRefusedOrAnonymisedAsUndamaged(trial: DriverTrial) throws {
    let original = try Self.record(trial, Self.memory(trial, isOther: false))
    let clean = try original.anonymised(by: trial.driver)
    var random = SeededGenerator(seed: 11)
    for _ in 0..<200 {
      var broken = original
      let step = Int.random(in: 0..<broken.steps.count, using: &random)
      guard case .success(var packet) = broken.steps[step].result, !packet.isEmpty else { continue }
      packet[Int.random(in: 0..<packet.count, using: &random)] ^= 0x20
      broken.steps[step].result = .success(packet)
      guard let anonymous = try? broken.anonymised(by: trial.driver) else { continue }
      // The changed bit is outside of all measurements, so at most this one step differs from the undamaged
      // session.
      let differing = zip(anonymous.steps, clean.steps).filter { $0.0 != $0.1 }
      #expect(differing.count <= 1)
    }
  }

  @Test(arguments: unable) func aDriverWithoutAnonymisationRefusesWithTheReason(trial: DriverTrial) throws {
    let original = try Self.record(trial, Self.memory(trial, isOther: false))
    let failure = #expect(throws: Failure.self) { try original.anonymised(by: trial.driver) }
    #expect(failure?.category == .usage)
    #expect(failure?.message.contains("record without --anonymise") == true)
  }
}
