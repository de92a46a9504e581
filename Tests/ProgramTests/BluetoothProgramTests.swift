// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SimulatedBluetooth
import SimulatedUSB
import TestProgram
import Testing

/// Tests the built program with simulated Bluetooth meters. A `BluetoothPeer` answers like bluetoothd.
@Suite(.timeLimit(.minutes(10))) struct BluetoothProgramTests {
  private static let address = "D4:3E:00:12:34:56"
  private static let values =
    #"{"2a29":"526f636865","2a24":"393235","2a25":"3030313233343536","2a26":"312e30","2a51":"ff03"}"#
  private static let records = #"""
    [["2a18","1b0400e40708021008104aff02b1f80000"],["2a34","02040001"],["2a18","0b0600e40708171014184aff25b1f80000"]]
    """#

  /// The argument of the `BluetoothPeer`, for one meter with further members in its object.
  private static func options(_ more: String...) -> String {
    let members =
      [
        #""address":"\#(address)""#, #""name":"meter+00123456""#, #""passkey":123456"#,
        #""values":\#(values)"#, #""records":\#(records)"#,
      ] + more
    return #"{"meters":[{\#(members.joined(separator: ","))}]}"#
  }

  /// The program, connected to the bus of a `BluetoothPeer` and to a USB bus without devices.
  private struct Setting {
    let program: Program
    let peer: BluetoothPeer
    private let bus: SimulatedBus

    init(_ options: String?) throws {
      program = try Program()
      peer = try BluetoothPeer(options)
      bus = try SimulatedBus()
    }

    var environment: [String: String] {
      bus.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": peer.address]) { $1 }
    }

    func run(_ arguments: String..., input: [UInt8] = []) async throws -> Program.Outcome {
      try await program.run(arguments: arguments, input: input, environment: environment)
    }

    /// Pairs the meter with its passkey.
    func pair() async throws {
      try program.write("123456\n", to: "passkey")
      let outcome = try await run("meter", "pair", "--passkey-file", program.path("passkey"))
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  @Test func aBluetoothMeterIsPairedListedImportedOnceAndForgotten() async throws {
    let setting = try Setting(Self.options())
    let empty = try await setting.run("meter", "list")
    #expect(empty.status == 0 && empty.errors == "glucoport: no meter is plugged in\n")
    try setting.program.write("123 456\n", to: "passkey")
    let paired = try await setting.run("meter", "pair", "--passkey-file", setting.program.path("passkey"))
    #expect(paired.status == 0, "\(paired)")
    #expect(paired.output.contains("paired, address \(Self.address)"))
    #expect(try await setting.run("meter", "list").output.contains("Accu-Chek Guide"))
    #expect(try await setting.run("meter", "wait", "--seconds", "20").status == 0)
    for round in 0..<2 {
      let outcome = try await setting.run("import", "--meter", "--timezone", "Europe/Madrid", "--json")
      let report = try #require(try outcome.objects().first, "\(outcome)")
      #expect(
        report["new"] as? Int == (round == 0 ? 2 : 0) && report["known"] as? Int == (round == 0 ? 0 : 2))
    }
    let listed = try await setting.run("meter", "list", "--json")
    let meter = try #require(try listed.objects().first)
    #expect(meter["address"] as? String == Self.address && meter["serial"] as? String == "00123456")
    #expect(meter["read_at"] is String)
    #expect(try await setting.run("meter", "info", "--serial", "00123456").output.contains("00123456"))
    #expect(try await setting.run("meter", "forget", "00123456").status == 0)
    #expect(try await setting.run("meter", "list").output == "")
    let gone = try await setting.run("meter", "forget", "00123456")
    #expect(gone.status == 66, "\(gone)")
    let requests = Set(setting.peer.end().filter { $0.hasPrefix("write ") })
    #expect(requests == ["write 0401 request", "write 0101 request"])
  }

  @Test func aBluetoothMeterIsForgottenEvenIfBluetoothdDoesNotRun() async throws {
    let setting = try Setting(Self.options())
    try await setting.pair()
    let outcome = try await setting.program.run(
      arguments: ["meter", "forget", "00123456"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(setting.program.path("none"))"])
    #expect(outcome.status == 0 && outcome.errors.contains("was not removed"), "\(outcome)")
    #expect(try await setting.run("meter", "forget", "00123456").status == 66)
    // The list of paired meters has lost the meter, but bluetoothd still has the pairing. The meter's address
    // removes it.
    let again = try await setting.run("meter", "forget", Self.address, "--quiet")
    #expect(again.status == 0, "\(again)")
    _ = setting.peer.end()
  }

  @Test func aBluetoothPairingThatThisComputerLostIsReported() async throws {
    let setting = try Setting(Self.options())
    try await setting.pair()
    setting.peer.end()
    // The bluetoothd of `emptied` has lost the pairing, while the meter advertises.
    let emptied = try BluetoothPeer(Self.options())
    let lost = try await setting.program.run(
      arguments: ["meter", "wait", "--seconds", "2"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": emptied.address])
    #expect(lost.status == 77 && lost.errors.contains("glucoport meter pair"), "\(lost)")
    emptied.end()
    let far = try BluetoothPeer(Self.options(#""inReach":false"#))
    let none = try await setting.program.run(
      arguments: ["meter", "wait", "--seconds", "2"], environment: ["DBUS_SYSTEM_BUS_ADDRESS": far.address])
    #expect(none.status == 69, "\(none)")
    far.end()
  }

  @Test func aSecondPairingReportsThatTheMeterIsPairedAlready() async throws {
    let setting = try Setting(Self.options(#""paired":true"#))
    let search = ["meter", "pair", "--seconds", "1"]
    let foreign = try await setting.program.run(arguments: search, environment: setting.environment)
    #expect(foreign.status == 69 && foreign.output.isEmpty, "\(foreign)")
    let command = "'glucoport meter pair --bluetooth \(Self.address)'"
    #expect(foreign.errors.hasSuffix("meter+00123456 is paired already: \(command) adds it\n"), "\(foreign)")
    let added = try await setting.run("meter", "pair", "--bluetooth", Self.address)
    #expect(added.status == 0 && added.output.contains("paired, address \(Self.address)"), "\(added)")
    let again = try await setting.program.run(arguments: search, environment: setting.environment)
    #expect(again.status == 69, "\(again)")
    #expect(
      again.errors.contains("Guide 00123456 is paired already: 'glucoport import --meter' reads it"),
      "\(again)")
    _ = setting.peer.end()
  }

  @Test func aMeterPairedWithTwoBluetoothAdaptersIsForgottenAtBoth() async throws {
    let meter = #""address":"\#(Self.address)","name":"meter+00123456","values":\#(Self.values)"#
    let setting = try Setting(
      #"{"adapters":2,"meters":[{\#(meter),"paired":true},{\#(meter),"adapter":1,"paired":true}]}"#)
    let outcome = try await setting.run("meter", "forget", Self.address)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(setting.peer.end().filter { $0.hasPrefix("removed ") }.count == 2)
  }

  @Test func aBluetoothSessionIsRecordedAndReplayedAlsoAnonymised() async throws {
    let setting = try Setting(Self.options())
    try await setting.pair()
    for options in [[], ["--anonymise"]] {
      let file = setting.program.path("session\(options.count)")
      let recorded = try await setting.program.run(
        arguments: ["meter", "record", "--bluetooth", Self.address.lowercased(), file] + options,
        environment: ["DBUS_SYSTEM_BUS_ADDRESS": setting.peer.address])
      #expect(recorded.status == 0, "\(recorded)")
      let text = try String(contentsOfFile: file, encoding: .utf8)
      #expect(text.contains("\nbluetooth\n") && text.contains("3030313233343536") == options.isEmpty)
      let imported = try await setting.run(
        "import", "--transcript", file, "--timezone", "UTC", "--store", file + ".db", "--json")
      #expect(try imported.objects().first?["new"] as? Int == 2, "\(imported)")
    }
  }

  @Test func pairingWithAWrongPasskeyEndsWithStatus77() async throws {
    let setting = try Setting(Self.options())
    let wrong = try await setting.run("meter", "pair", "--passkey-file", "-", input: Array("1\n".utf8))
    #expect(wrong.status == 77 && wrong.errors.contains("refused the passkey"), "\(wrong)")
    let none = try await setting.run("meter", "pair")
    #expect(none.status == 64 && none.errors.contains("no passkey was given"), "\(none)")
    let invalid = try await setting.run(
      "meter", "pair", "--passkey-file", "-", input: Array("1234567\n".utf8))
    #expect(invalid.status == 65, "\(invalid)")
    #expect(try await setting.run("meter", "list").output == "")
  }

  @Test func aBluetoothMeterThatLeavesDuringTheTransferStoresNothing() async throws {
    let setting = try Setting(Self.options(#""vanishesAfter":3"#))
    try await setting.pair()
    let outcome = try await setting.run("import", "--meter", "--timezone", "UTC")
    #expect(outcome.status == 69 && outcome.errors.contains("connection to the meter was lost"), "\(outcome)")
    let job = try await setting.run("import", "--meter", "--if-present", "--quiet", "--timezone", "UTC")
    #expect(job.status == 75, "\(job)")
    #expect(!FileManager.default.fileExists(atPath: setting.program.store))
  }

  @Test func aJobWaitsForABluetoothMeterWithoutASearch() async throws {
    let setting = try Setting(Self.options())
    try await setting.pair()
    let wait = ["meter", "wait", "--connect", "--seconds", "20"]
    let came = try await setting.program.run(arguments: wait, environment: setting.environment)
    #expect(came.status == 0 && came.output.contains(Self.address), "\(came)")
    let outcome = try await setting.run("import", "--meter", "--if-present", "--quiet", "--timezone", "UTC")
    #expect(outcome.status == 0, "\(outcome)")
    let lines = setting.peer.end()
    let paired = try #require(lines.firstIndex { $0.hasPrefix("profile ") })
    #expect(!lines[paired...].contains { $0.hasPrefix("filter ") }, "\(lines)")
    #expect(lines.contains("write 0101 request"))
  }

  @Test func aMeterThatJobsSkipIsNotConnectedWhileWaiting() async throws {
    let setting = try Setting(Self.options(#""vanishesAfter":3"#))
    try await setting.pair()
    for _ in 0..<2 {
      let job = try await setting.run("import", "--meter", "--if-present", "--quiet", "--timezone", "UTC")
      #expect(job.status == 75, "\(job)")
    }
    let wait = try await setting.run("meter", "wait", "--connect", "--seconds", "20", "--quiet")
    #expect(wait.status == 69, "\(wait)")
    #expect(!setting.peer.end().contains { $0.hasPrefix("profile ") })
  }

  @Test func jobsSkipAMeterAfterRepeatedFailedSessions() async throws {
    let setting = try Setting(Self.options(#""vanishesAfter":3"#))
    try await setting.pair()
    func isInReach() async throws -> Bool {
      try await setting.run("meter", "wait", "--seconds", "1", "--quiet").status == 0
    }
    func job() async throws -> Int32 {
      try await setting.run("import", "--meter", "--if-present", "--quiet", "--timezone", "UTC").status
    }
    #expect(try await job() == 75)
    #expect(try await isInReach(), "a lost link")
    #expect(try await job() == 75)
    #expect(try await !isInReach())
    #expect(try await job() == 0, "nothing is connected")
    #expect(try await setting.run("meter", "list").output.contains("passed over by jobs until"))
    // An import by a person still tries to connect the meter.
    #expect(try await setting.run("import", "--meter", "--timezone", "UTC").status == 69)
    // When the last failure is long ago, jobs connect the meter again.
    let path = setting.program.path("data/glucoport/bluetooth.json")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let past = text.replacing(/"failed_at":[0-9]+/, with: "\"failed_at\":1600000000")
    try past.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(past != text)
    #expect(try await isInReach())
  }

  @Test func onlyOneBluetoothSessionRunsAtATime() async throws {
    let setting = try Setting(Self.options())
    try await setting.pair()
    let path = setting.program.path("data/glucoport/bluetooth.json-meter")
    let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(lock, LOCK_EX) == 0)
    let busy = try await setting.run("import", "--meter", "--timezone", "UTC")
    #expect(busy.status == 75 && busy.errors.contains("another session with a Bluetooth meter"), "\(busy)")
    close(lock)
    let free = try await setting.run("import", "--meter", "--timezone", "UTC")
    #expect(free.status == 0, "\(free)")
  }

  @Test func aLaterBluetoothImportRequestsOnlyNewRecords() async throws {
    let setting = try Setting(Self.options())
    try await setting.pair()
    for more in [["--timezone", "UTC"], [], ["--all"]] as [[String]] {
      let outcome = try await setting.program.run(
        arguments: ["import", "--meter", "--quiet"] + more, environment: setting.environment)
      #expect(outcome.status == 0, "\(outcome)")
    }
    let log = try await setting.run("log", "1", "--json")
    #expect(log.output.contains(#""base time -182 min""#), "\(log)")
    let table = try await setting.run("list", "--long")
    let id = try #require(table.output.split { $0 == " " || $0.isNewline }.first { $0.hasPrefix("r1.") })
    let shown = try await setting.run("show", String(id))
    #expect(shown.output.contains("base time -182 min, so 2020-08-"), "\(shown)")
    let object = try #require(try await setting.run("show", String(id), "--json").objects().first)
    #expect(object["clock_offset"] as? String == "base time -182 min", "\(object)")
    let (shownTime, base) = (object["device_time"] as? String, object["base_time"] as? String)
    #expect(
      shownTime == "2020-08-02T13:06:16" && base == "2020-08-02T16:08:16"
        || shownTime == "2020-08-23T13:18:24" && base == "2020-08-23T16:20:24", "\(object)")
    let requests = setting.peer.end().filter { $0.hasPrefix("write ") }.map { $0.split(separator: " ")[1] }
    #expect(requests == ["0401", "0101", "0403010600", "0103010600", "0401", "0101"], "\(requests)")
  }

  @Test func doctorNamesPairedMetersAndTheObstaclesToReadingThem() async throws {
    let setting = try Setting(Self.options())
    func found() async throws -> [String] {
      let lines = try await setting.run("doctor").output.split(separator: "\n")
      return lines.filter { $0.contains("bluetooth:") }.map(String.init)
    }
    #expect(try await found() == ["ok    bluetooth: no meter is paired"])
    try await setting.pair()
    let paired = try await found()
    #expect(paired.count == 1 && paired[0].hasPrefix("ok ") && paired[0].hasSuffix("paired, never imported"))
    setting.peer.end()
    let without = try await found()
    #expect(without.count == 1 && without[0].hasPrefix("fail "), "\(without)")
  }

  @Test func aMeterThatLostItsPairingEndsTheImportWithStatus77() async throws {
    let setting = try Setting(Self.options(#""bonded":false"#))
    try await setting.pair()
    let outcome = try await setting.run("import", "--meter", "--timezone", "UTC")
    #expect(outcome.status == 77 && outcome.errors.contains("glucoport meter pair"), "\(outcome)")
  }

  @Test(arguments: [
    (#"{"adapters":0}"#, 69, "no Bluetooth adapter"), (#"{"powered":"blocked"}"#, 69, "rfkill unblock"),
    (#"{"denied":true}"#, 77, "usermod -aG bluetooth"), (nil, 69, "systemctl start bluetooth"),
    ("{}", 69, "no meter in pairing mode was found in 1 second"),
  ])
  func missingBluetoothPartsAreReportedWithTheirExitStatus(options: String?, status: Int32, words: String)
    async throws
  {
    let setting = try Setting(options)
    let outcome = try await setting.run("meter", "pair", "--seconds", "1")
    #expect(outcome.status == status && outcome.errors.contains(words), "\(outcome)")
  }

  @Test func withoutAPairedMeterTheDBusLibraryIsNotLoaded() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      for line in --version 'meter drivers' 'meter wait --seconds 1'; do
        strace -f -o calls -e trace=openat glucoport $line >/dev/null 2>&1
        grep -c libdbus calls
      done
      """)
    #expect(outcome.output == "0\n0\n0\n", "\(outcome)")
  }
}
