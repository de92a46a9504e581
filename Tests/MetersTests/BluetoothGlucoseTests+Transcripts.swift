// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import SimulatedMeters
import SimulatedUSB
import Testing

@testable import Meters

/// Tests transcripts of Bluetooth sessions.
extension BluetoothGlucoseTests {
  private func transcript(_ meter: SimulatedGlucoseMeter) throws -> Transcript {
    var transcript = Transcript(
      driver: "bluetooth-glucose", vendorID: 0, productID: 0, startedAt: 1_800_000_000)
    transcript.link = .bluetooth
    let recording = RecordingTransport(
      SimulatedHost(meter), milliseconds: { 0 }, note: { transcript.steps.append($0) })
    let connection = MeterConnection(recording, model: .bluetooth("test")) { 1_800_000_000 }
    _ = try BluetoothGlucoseDriver().read(connection)
    return transcript
  }

  @Test func aBluetoothTranscriptTruncatedAnywhereReturnsEverythingOrNothing() throws {
    let text = Array(try transcript(Self.meter(Self.guide)).text.utf8)
    for count in 0..<text.count {
      #expect(throws: Failure.self, "\(count)") {
        let (driver, meter) = try Transcript(bytes: Array(text.prefix(count)), named: "cut").replay(
          named: "cut")
        _ = try driver.init().read(meter)
      }
    }
    let (driver, meter) = try Transcript(bytes: text, named: "whole").replay(named: "whole")
    #expect(try driver.init().read(meter).readings.count == 2)
  }

  @Test func aMutatedBluetoothTranscriptIsReadOrRefused() throws {
    let text = Array(try transcript(Self.meter(Self.guide)).text.utf8)
    var random = SeededGenerator(seed: 2718)
    var read = 0
    for _ in 0..<2000 {
      do {
        let bytes = random.mutated(text)
        let (driver, meter) = try Transcript(bytes: bytes, named: "mutated").replay(named: "mutated")
        _ = try driver.init().read(meter)
        read += 1
      } catch is Failure {}
    }
    #expect(read > 0)
  }

  @Test func anAnonymisedDeviceNameKeepsOnlyTheBrandPart() throws {
    let session = try transcript(Self.meter(Self.guide) { $0.hasSerial = false })
    let anonymous = try session.anonymised(by: BluetoothGlucoseDriver.self)
    let (driver, meter) = try anonymous.replay(named: "session")
    let identity = try driver.init().identify(meter)
    #expect(identity.device.vendor == "Roche" && identity.device.serial == "00000000")
    #expect(!anonymous.text.contains("303031323334"))
  }

  @Test func aSessionOfAnotherTypeOfLinkCannotBeAnonymised() throws {
    var session = try transcript(Self.meter(Self.guide))
    session.steps.append(HexSession.step(.receive(maxBytes: 64), .success([1])))
    #expect(throws: Failure.self) { try session.anonymised(by: BluetoothGlucoseDriver.self) }
  }

  @Test func aTranscriptOfAUSBMeterIsRefusedForABluetoothMeter() throws {
    var session = try transcript(Self.meter(Self.guide))
    session.driver = "contour"
    #expect(throws: Failure.self) { try session.replay(named: "session") }
    (session.driver, session.link) = ("bluetooth-glucose", nil)
    #expect(throws: Failure.self) { try session.replay(named: "session") }
  }
}
