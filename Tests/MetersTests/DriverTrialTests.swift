// SPDX-License-Identifier: Apache-2.0

import Logbook
import MeterConformance
import SimulatedMeters
import SimulatedUSB
import Testing

/// Tests that the conformance suite of drivers finds faulty drivers.
struct DriverTrialTests {
  private let faults: [Fault.Kind] = [.corrupt(place: 500), .shorten, .extra, .stall, .silence, .unplug]
  private let careful = DriverTrial(driver: ToyDriver.self, family: .toy)
  private let careless = DriverTrial(driver: CarelessToyDriver.self, family: .toy)
  private let stubborn = DriverTrial(driver: StubbornToyDriver.self, family: .toy)

  @Test func aCorrectDriverPassesTheDamageTrial() throws {
    #expect(try careful.complaints(faults) == [])
    for memory in [careful.variety, careful.full, careful.limits] {
      #expect(!memory.items.isEmpty)
      let contents = try careful.read(careful.meter(memory)).result.get()
      #expect(DriverTrial.difference(contents, memory.items) == nil)
    }
  }

  @Test func theDamageTrialFindsADriverThatAcceptsWrongValues() throws {
    let complaints = try careless.complaints([.corrupt(place: 900), .extra])
    #expect(complaints.contains { $0.contains("which the meter does not hold") })
  }

  @Test func theDamageTrialFindsADriverThatDoesNotStop() throws {
    let complaints = try stubborn.complaints([.silence])
    #expect(complaints.contains { $0.contains("goes on") })
  }

  @Test func theDamageTrialFindsMissingReadings() throws {
    var contents = try careful.read(careful.meter(careful.variety)).result.get()
    contents.readings.removeLast()
    #expect(DriverTrial.difference(contents, careful.variety.items)?.contains("leaves out 1") == true)
  }

  @Test func theDamageTrialFindsAReadingWithAWrongTime() throws {
    var contents = try careful.read(careful.meter(careful.variety)).result.get()
    contents.readings[0].deviceTime = DeviceTime(seconds: 0)
    #expect(DriverTrial.difference(contents, careful.variety.items)?.contains("does not hold") == true)
  }
}
