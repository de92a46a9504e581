// SPDX-License-Identifier: Apache-2.0

import BluetoothTransport
import Foundation
import Glibc
import Logbook
import Meters
import SimulatedBluetooth
import Testing

/// Tests the Bluetooth transport with `BluetoothPeer`, a simulated bluetoothd.
@Suite struct BluetoothTransportTests {
  private static let records = #"""
    [["2a18","1b0400e40708021008104aff02b1f80000"],["2a34","02040001"],["2a18","0b0600e40708171014184aff25b1f80000"]]
    """#
  private static let values =
    #"{"2a29":"526f636865","2a24":"393235","2a25":"3030313233343536","2a26":"312e30","2a51":"ff03"}"#

  /// A meter that the peer simulates, as a JSON object with these further members.
  private static func meter(_ more: String = "", address: String = "D4:3E:00:12:34:56", paired: Bool = true)
    -> String
  {
    #"{"address":"\#(address)","name":"meter+00123456","paired":\#(paired),"values":\#(values),"#
      + #""records":\#(records)\#(more.isEmpty ? "" : "," + more)}"#
  }

  private static func options(_ meters: [String], _ more: String = "") -> String {
    #"{"meters":[\#(meters.joined(separator: ","))]\#(more.isEmpty ? "" : "," + more)}"#
  }

  private func read(_ peer: BluetoothPeer, interrupted: @escaping () -> Bool = { false }) throws
    -> MeterContents
  {
    let bus = try BluetoothBus(address: peer.address, isInterrupted: interrupted)
    let device = try #require(bus.devices().first)
    let driver = try #require(DriverRegister.driver("bluetooth-glucose"))
    return try bus.withTransport(to: device) { transport in
      try driver.init().read(MeterConnection(transport, model: .bluetooth(device.name)) { 0 })
    }
  }

  private func failure(_ peer: BluetoothPeer) -> Failure? {
    #expect(throws: Failure.self) { try self.read(peer) }
  }

  @Test(arguments: [true, false])
  func aPairedBluetoothMeterIsReadOverSocketsOrDBus(hasSockets: Bool) throws {
    let peer = try BluetoothPeer(Self.options([Self.meter(#""sockets":\#(hasSockets)"#)]))
    let contents = try read(peer)
    #expect(contents.identity.device.serial == "00123456" && contents.identity.device.vendor == "Roche")
    #expect(contents.readings.map(\.deviceTime.text) == ["2020-08-02T13:06:16", "2020-08-23T13:18:24"])
    #expect(contents.readings.map(\.marks) == [.beforeMeal, []])
    #expect(contents.warnings.isEmpty && contents.rejections.isEmpty)
    #expect(
      peer.end() == [
        "connected D4:3E:00:12:34:56", "write 0401 request", "write 0101 request",
        "disconnected D4:3E:00:12:34:56",
      ])
  }

  @Test func aThousandBluetoothRecordsArriveInOrder() throws {
    let records = (0..<1000).map { index in
      let number = String(index + 0x10000, radix: 16).suffix(4)
      let bytes = "03" + number.suffix(2) + number.prefix(2) + "ea070309"
      let (hour, minute) = (index / 60 % 24 + 0x100, index % 60 + 0x100)
      return
        #"["2a18","\#(bytes)\#(String(hour, radix: 16).suffix(2))\#(String(minute, radix: 16).suffix(2))00000064b0f8"]"#
    }
    let meter = #"{"address":"D4:3E:00:12:34:56","name":"meter+1","paired":true,"milliseconds":0,"records":["#
    let peer = try BluetoothPeer(Self.options([meter + records.joined(separator: ",") + "]}"]))
    let contents = try read(peer)
    #expect(contents.readings.count == 1000)
    #expect(contents.readings.map(\.deviceTime.parts.minute) == (0..<1000).map { $0 % 60 })
  }

  @Test func aBluetoothMeterThatVanishesDuringTheTransferReturnsNothing() throws {
    for count in 1...4 {
      let peer = try BluetoothPeer(Self.options([Self.meter(#""vanishesAfter":\#(count)"#)]))
      let failure = failure(peer)
      #expect(failure?.category == .unavailable, "\(count): \(String(describing: failure))")
      #expect(failure?.message.contains("connection to the meter was lost") == true)
    }
  }

  @Test func aBluetoothMeterOutOfRangeIsReportedAsUnavailable() throws {
    let failure = failure(try BluetoothPeer(Self.options([Self.meter(#""inReach":false"#)])))
    #expect(failure?.category == .unavailable)
    #expect(failure?.message.contains("bring the meter near") == true)
  }

  @Test func anErrorForAnUnpairedMeterNamesThePairingCommand() throws {
    let failure = failure(try BluetoothPeer(Self.options([Self.meter(#""bonded":false"#)])))
    #expect(failure?.category == .permission)
    #expect(failure?.message.contains("glucoport meter pair") == true)
  }

  @Test func anErrorForAConnectionThatEndsAtOnceSuggestsPairingAgain() throws {
    let failure = failure(try BluetoothPeer(Self.options([Self.meter(#""lost":true"#)])))
    #expect(failure?.category == .unavailable)
    #expect(
      failure?.message.contains("glucoport meter forget D4:3E:00:12:34:56") == true,
      "\(String(describing: failure))")
  }

  @Test func aTransferThatTheMeterEndsWithAnErrorFails() throws {
    let failure = failure(try BluetoothPeer(Self.options([Self.meter(#""end":"06000108""#)])))
    #expect(failure?.category == .protocolViolation)
  }

  @Test func anInterruptionEndsTheWaitForABluetoothMeter() throws {
    let peer = try BluetoothPeer(Self.options([Self.meter(#""end":"""#)]))
    var polls = 0
    let failure = #expect(throws: Failure.self) {
      try self.read(peer) {
        polls += 1
        return polls > 60
      }
    }
    #expect(failure?.category == .temporary, "\(String(describing: failure))")
  }

  @Test func aBluetoothMeterIsFoundPairedTrustedAndForgotten() throws {
    let peer = try BluetoothPeer(Self.options([Self.meter(#""passkey":123456"#, paired: false)]))
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    #expect(try bus.devices() == [])
    let found = try bus.search(seconds: 20) { !$0.isEmpty }
    let device = try #require(found.first)
    #expect(device.name == "meter+00123456" && !device.isPaired)
    var asked: [String] = []
    try bus.pair(device) { name in
      asked.append(name)
      return 123_456
    }
    #expect(asked == ["meter+00123456"])
    let paired = try #require(bus.devices().first)
    #expect(paired.isPaired && paired.isTrusted)
    try bus.forget(paired)
    #expect(try bus.devices() == [])
    let lines = peer.end()
    #expect(lines.contains("filter le 00001808-0000-1000-8000-00805f9b34fb"))
    #expect(lines.contains("agent KeyboardOnly") && lines.contains("passkey 123456"))
  }

  @Test func aWrongPasskeyIsReportedAsAPermissionError() throws {
    let peer = try BluetoothPeer(Self.options([Self.meter(#""passkey":123456"#, paired: false)]))
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    let device = try #require(bus.search(seconds: 20) { !$0.isEmpty }.first)
    let wrong = #expect(throws: Failure.self) { try bus.pair(device) { _ in 1 } }
    #expect(wrong?.category == .permission)
    let none = #expect(throws: Failure.self) { try bus.pair(device) { _ in nil } }
    #expect(none?.category == .usage)
    #expect(try bus.devices().allSatisfy { !$0.isPaired })
    // After a refused passkey, bluetoothd keeps the meter, but without its services.
    let again = try #require(bus.search(seconds: 20) { !$0.isEmpty }.first)
    try bus.pair(again) { _ in 123_456 }
    #expect(try bus.devices().map(\.isPaired) == [true])
  }

  private func approach(_ peer: BluetoothPeer, seconds: Int = 20) throws -> BluetoothBus.Approach {
    try BluetoothBus(address: peer.address, isInterrupted: { false })
      .awaitConnection(seconds: seconds, of: ["D4:3E:00:12:34:56"])
  }

  @Test func aPairedMeterThatComesIntoRangeIsConnectedWithoutASearch() throws {
    let peer = try BluetoothPeer(Self.options([Self.meter()]))
    guard case .connected(let device) = try approach(peer) else {
      Issue.record("no meter")
      return
    }
    #expect(device.address == "D4:3E:00:12:34:56")
    // The meter stays connected, so the import after the wait needs no search either.
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    #expect(try bus.search(seconds: 20) { !$0.isEmpty }.map(\.isConnected) == [true])
    #expect(try read(peer).readings.count == 2)
    let lines = peer.end()
    #expect(lines.contains("profile 00001808-0000-1000-8000-00805f9b34fb") && lines.contains("no profile"))
    #expect(!lines.contains { $0.hasPrefix("filter") }, "\(lines)")
  }

  @Test func waitingWithoutAMeterInRangeEndsWithoutAnError() throws {
    let far = try BluetoothPeer(Self.options([Self.meter(#""inReach":false"#)]))
    #expect(try approach(far, seconds: 1) == .noMeter)
    let old = try BluetoothPeer(Self.options([Self.meter()], #""profiles":false"#))
    #expect(try approach(old) == .unsupported)
    // Without a pairing no meter would ever be connected, so there is no wait.
    let unpaired = try BluetoothPeer(Self.options([Self.meter(paired: false)]))
    #expect(try approach(unpaired) == .unsupported)
    #expect(!unpaired.end().contains { $0.hasPrefix("profile") })
    #expect(throws: Failure.self) { try approach(BluetoothPeer(#"{"adapters":0}"#)) }
  }

  @Test func anotherMeterThatComesIntoRangeDoesNotEndTheWait() throws {
    let other = Self.meter(address: "D4:3E:00:12:34:57")
    let peer = try BluetoothPeer(Self.options([Self.meter(#""inReach":false"#), other]))
    #expect(try approach(peer, seconds: 1) == .noMeter)
    #expect(peer.end().contains("connected D4:3E:00:12:34:57"))
  }

  @Test func theSimulatedBlueZShowsOnlyBehaviourRecordedFromTheRealOne() throws {
    let peer = try BluetoothPeer(
      Self.options([Self.meter(#""passkey":123456"#, paired: false)]), isWatched: true)
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    for passkey: UInt32 in [1, 123_456] {
      let device = try #require(bus.search(seconds: 20) { !$0.isEmpty }.first)
      do { try bus.pair(device) { _ in passkey } } catch {
        #expect(passkey == 1 && error.category == .permission)
      }
    }
    #expect(try read(peer).readings.count == 2)
    #expect(try approach(peer) != .noMeter)
    try bus.forget(#require(bus.devices().first))
    let (facts, recorded) = (Set(peer.facts()), try BluetoothPeer.recordedFacts())
    #expect(facts.subtracting(recorded).sorted() == [])
    #expect(facts.contains("error Device1.Pair org.bluez.Error.AuthenticationFailed Authentication Failed"))
    #expect(facts.contains("answer GattCharacteristic1.AcquireNotify hq"))
    #expect(facts.contains("answer GattManager1.RegisterApplication"))
    #expect(facts.contains("call ObjectManager.GetManagedObjects"))
  }

  /// The options that the other tests give to the peer: a meter that leaves, an adapter that is off or
  /// blocked, and two adapters. Only a bluetoothd without sockets for notifications (before 5.46) is left
  /// out, since no recording of it exists.
  @Test(arguments: [
    options([meter(#""vanishesAfter":2"#)]), options([meter(paired: false)], #""powered":false"#),
    options([meter()], #""powered":"blocked""#),
    options([meter(), meter(#""adapter":1"#)], #""adapters":2"#),
    options([meter(#""inReach":false"#)]),
    options([meter(#""lost":true"#)]),
  ])
  func eachOptionOfTheSimulatedBlueZShowsOnlyRecordedBehaviour(_ options: String) throws {
    let peer = try BluetoothPeer(options, isWatched: true)
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    do { _ = try bus.search(seconds: 1) { !$0.isEmpty } } catch { #expect(options.contains("blocked")) }
    if !options.contains("inReach"), let device = try bus.devices().first, device.isPaired {
      do { _ = try read(peer) } catch { #expect(options.contains("vanishes") || options.contains("lost")) }
      try bus.forget(device)
    }
    let unrecorded = try Set(peer.facts()).subtracting(BluetoothPeer.recordedFacts()).sorted()
    #expect(unrecorded == [])
  }

  @Test func aMeterInRangeOfTwoBluetoothAdaptersIsListedOnce() throws {
    let meters = [Self.meter(paired: false), Self.meter(#""adapter":1"#)]
    let peer = try BluetoothPeer(Self.options(meters, #""adapters":2"#))
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    // The adapter that has the pairing is used.
    let found = try bus.search(seconds: 2) { _ in false }
    #expect(found.map(\.isPaired) == [true])
  }

  @Test func twoMetersAreFoundThroughTwoBluetoothAdapters() throws {
    let peer = try BluetoothPeer(
      Self.options(
        [
          Self.meter(paired: false),
          Self.meter(#""adapter":1"#, address: "D4:3E:00:12:34:57", paired: false),
        ], #""adapters":2"#))
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    let found = try bus.search(seconds: 20) { $0.count == 2 }
    #expect(found.map(\.address) == ["D4:3E:00:12:34:56", "D4:3E:00:12:34:57"])
  }

  @Test func aBluetoothAdapterThatIsOffIsSwitchedOn() throws {
    let peer = try BluetoothPeer(Self.options([Self.meter(paired: false)], #""powered":false"#))
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    #expect(try bus.search(seconds: 20) { !$0.isEmpty }.count == 1)
  }

  // MARK: Missing parts of the system

  @Test(arguments: [
    (#"{"adapters":0}"#, "this computer has no Bluetooth adapter"),
    (#"{"powered":"blocked"}"#, "rfkill unblock bluetooth"),
  ])
  func aMissingOrBlockedBluetoothAdapterIsReported(options: String, words: String) throws {
    let peer = try BluetoothPeer(options)
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    let failure = #expect(throws: Failure.self) { try bus.search(seconds: 1) { !$0.isEmpty } }
    #expect(failure?.category == .unavailable)
    #expect(failure?.message.contains(words) == true, "\(String(describing: failure))")
  }

  @Test func aRefusalByTheDBusIsReportedAsAPermissionError() throws {
    let peer = try BluetoothPeer(#"{"denied":true}"#)
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    let failure = #expect(throws: Failure.self) { try bus.devices() }
    #expect(failure?.category == .permission)
    #expect(failure?.message.contains("usermod -aG bluetooth") == true)
  }

  @Test func withoutBluetoothdTheErrorNamesTheCommandThatStartsIt() throws {
    let peer = try BluetoothPeer(nil)
    let bus = try BluetoothBus(address: peer.address, isInterrupted: { false })
    let failure = #expect(throws: Failure.self) { try bus.devices() }
    #expect(failure?.category == .unavailable)
    #expect(failure?.message.contains("systemctl start bluetooth") == true)
  }

  @Test func aSignalEndsTheWaitForASilentDBus() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "silent-\(UUID().uuidString)").path
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer {
      close(listener)
      unlink(path)
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let bound = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0 && listen(listener, 1) == 0)
    var polls = 0
    let failure = #expect(throws: Failure.self) {
      try BluetoothBus(address: "unix:path=\(path)") {
        polls += 1
        return polls > 2
      }
    }
    #expect(
      failure?.category == .temporary, "\(String(describing: failure))")
    #expect(polls == 3)
  }

  @Test func withoutDBusTheErrorNamesTheDBusDaemon() {
    let failure = #expect(throws: Failure.self) {
      try BluetoothBus(address: "unix:path=/nonexistent/bus", isInterrupted: { false })
    }
    #expect(failure?.category == .unavailable)
    #expect(failure?.message.contains("dbus-daemon") == true)
  }
}
