// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Meters
import Testing
import USBTransport

@testable import CommandParts
@testable import Commands

/// Tests which of the connected devices is chosen as the meter.
@Suite struct PluggedMeterTests {
  private static let drivers: [any MeterDriver.Type] = [
    OwnDriver.self, CableDriver.self, OtherCableDriver.self,
  ]

  private func device(_ vendor: UInt16, _ product: UInt16, port: String = "1-1") -> PluggedDevice {
    PluggedDevice(
      bus: 1, address: 2, port: port, vendorID: vendor, productID: product, node: "/dev/bus/usb/001/002")
  }

  private func chosen(_ devices: [PluggedDevice], driver: String? = nil) throws -> String {
    let meter = try PluggedMeter.only(of: devices, drivers: Self.drivers, driver: driver)
    return "\(meter.driver.id) \(meter.place)"
  }

  private func failure(_ devices: [PluggedDevice], driver: String? = nil) -> Failure? {
    do {
      _ = try PluggedMeter.only(of: devices, drivers: Self.drivers, driver: driver)
      return nil
    } catch {
      return error
    }
  }

  @Test func aMeterWithUnsharedUSBIDsIsFoundAmongOtherDevices() throws {
    let devices = [device(0x1D6B, 2, port: "usb1"), device(0x1209, 1, port: "1-1.4"), device(0x046D, 1)]
    #expect(try chosen(devices) == "own Own One at 1-1.4")
  }

  @Test func amongOtherUSBDevicesNoMeterIsFound() {
    for devices in [[], [device(0x046D, 1)]] {
      #expect(failure(devices)?.category == .unavailable)
      #expect(failure(devices)?.message.hasPrefix("no meter is plugged in;") == true)
      #expect(failure(devices, driver: "own")?.message.contains("of the driver 'own'") == true)
    }
  }

  @Test func aCableUsedBySeveralDriversIsQueriedOnlyWithAGivenDriver() throws {
    let devices = [device(0x10C4, 0xEA60)]
    #expect(failure(devices)?.category == .unavailable)
    #expect(
      failure(devices)?.message.contains("is used by: cable, other-cable; choose one with --driver")
        == true)
    #expect(try chosen(devices, driver: "other-cable") == "other-cable Other behind a cable at 1-1")
    #expect(failure(devices, driver: "own")?.category == .unavailable)
  }

  @Test func withSeveralMetersPluggedInOneMustBeChosen() throws {
    let devices = [device(0x1209, 1, port: "1-1"), device(0x1209, 3, port: "1-2")]
    #expect(failure(devices)?.category == .usage)
    #expect(
      failure(devices)?.message.contains("Own One at 1-1 (own), Cable of its own at 1-2 (cable)") == true)
    #expect(try chosen(devices, driver: "cable") == "cable Cable of its own at 1-2")
    #expect(failure(devices + devices, driver: "cable")?.category == .usage)
  }

  @Test func aSerialCableNextToAMeterIsIgnored() throws {
    #expect(try chosen([device(0x10C4, 0xEA60), device(0x1209, 1)]) == "own Own One at 1-1")
  }

  @Test func theReportedPermissionIsThatOfTheDeviceFileUsedByTheDriver() throws {
    var cable = device(0x10C4, 0xEA60)
    cable.terminal = "/dev/ttyUSB0"
    (cable.mayOpenNode, cable.mayOpenTerminal) = (true, false)
    let meter = try PluggedMeter.only(of: [cable], drivers: Self.drivers, driver: "cable")
    #expect(meter.node == "/dev/ttyUSB0" && !meter.mayOpen)
    var own = device(0x1209, 1)
    own.mayOpenNode = true
    let other = try PluggedMeter.only(of: [own], drivers: Self.drivers, driver: nil)
    #expect(other.node == "/dev/bus/usb/001/002" && other.mayOpen)
  }

  @Test func theMeterListShowsWhetherTheUserMayOpenTheDevice() throws {
    var own = device(0x1209, 1)
    let line = try #require(PluggedMeter.meters(in: [own], drivers: Self.drivers, shared: true).first)
    #expect(
      MeterListing.line(line)
        == "1-1  1209:0001  Own One: driver own, permission denied for /dev/bus/usb/001/002")
    own.mayOpenNode = true
    let open = try #require(PluggedMeter.meters(in: [own], drivers: Self.drivers, shared: true).first)
    #expect(MeterListing.line(open).hasSuffix("driver own, permission to open it"))
  }

  @Test func aSignalNumberIsMappedToTheExitStatusThatAShellReturns() {
    #expect(ExitStatus(signal: 2) == .interrupted && ExitStatus(signal: 2).rawValue == 130)
    #expect(ExitStatus(signal: 15) == .terminated && ExitStatus(signal: 15).rawValue == 143)
  }
}

/// Tests the rules for udev, which give a user access to meters.
@Suite struct UdevRulesTests {
  private let drivers: [any MeterDriver.Type] = [OwnDriver.self, CableDriver.self]

  private func rules(shared: Bool = false) -> [String] {
    UdevRules.lines(drivers, group: "plugdev", shared: shared).filter { $0.hasPrefix("SUBSYSTEM") }
  }

  @Test func aUdevRuleMatchesOnlyTheUSBIDsOfTheMeter() {
    #expect(
      rules()[0]
        == #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="1209", ATTR{idProduct}=="0001", MODE="0660", GROUP="plugdev", TAG+="uaccess", TAG+="systemd", ENV{SYSTEMD_USER_WANTS}+="glucoport-meter.service""#
    )
  }

  @Test func aKnownMeterStartsItsImportAndACableDoesNot() {
    let wants = #"TAG+="systemd", ENV{SYSTEMD_USER_WANTS}+="glucoport-meter.service""#
    let starting = rules(shared: true).filter { $0.contains(wants) }
    #expect(starting.count == 3, "by the device, by the disk's device, by the terminal")
    #expect(starting.allSatisfy { $0.contains("uaccess") && !$0.contains("10c4") })
    let all = UdevRules.lines(DriverRegister.all, group: "plugdev", shared: false)
    let models = DriverRegister.all.flatMap { $0.models }.filter { !$0.isShared }
    for model in models {
      let ids =
        #"{idVendor}=="\#(MeterModel.digits(model.vendorID))", ATTR"#
      let product = #"{idProduct}=="\#(MeterModel.digits(model.productID))""#
      let starts = all.contains { $0.contains(ids) && $0.contains(product) && $0.contains(wants) }
      #expect(starts == (model.obstacle == nil), "\(model.name)")
    }
  }

  @Test func theUdevRuleOfAMeterThatIsADiskHidesItFromDesktops() {
    #expect(
      rules()[2]
        == #"SUBSYSTEM=="block", ATTRS{idVendor}=="1209", ATTRS{idProduct}=="0002", ENV{UDISKS_IGNORE}="1""#)
  }

  @Test func theUdevRuleOfASerialCableSetsThePermissionOfItsTerminal() {
    #expect(
      rules()[4].hasPrefix(
        #"SUBSYSTEM=="tty", ATTRS{idVendor}=="1209", ATTRS{idProduct}=="0003", MODE="0660""#))
  }

  @Test func udevRulesKeepModemManagerFromProbingSerialCables() throws {
    #expect(
      rules()[3]
        == #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="1209", ATTR{idProduct}=="0003", ENV{ID_MM_DEVICE_IGNORE}="1""#
    )
    let all = UdevRules.lines(DriverRegister.all, group: "plugdev", shared: true)
    for driver in DriverRegister.all {
      for model in driver.models {
        let ids =
          #"ATTR{idVendor}=="\#(MeterModel.digits(model.vendorID))", "#
          + #"ATTR{idProduct}=="\#(MeterModel.digits(model.productID))""#
        let ignored = all.contains { $0.contains(ids) && $0.contains(#"ENV{ID_MM_DEVICE_IGNORE}="1""#) }
        let isLine = [.cdc, .terminal].contains(model.link.kind)
        #expect(ignored == isLine, "\(model.name)")
      }
    }
  }

  @Test func udevRulesForSharedUSBIDsAreLeftOutUnlessRequested() {
    #expect(rules().count == 5)
    #expect(rules(shared: true).count == 7)
    #expect(!rules().contains { $0.contains("10c4") })
    #expect(rules(shared: true).contains { $0.contains("10c4") })
  }

  @Test func udevRulesForAnUnknownDeviceAreWrittenOnRequest() throws {
    let other = try #require(USBArgument(argument: "0403:6015"))
    let lines = UdevRules.lines(drivers, group: "plugdev", shared: false, others: [other, other])
    let rules = lines.filter { $0.contains("6015") && $0.hasPrefix("SUBSYSTEM") }
    #expect(
      rules == [
        #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="0403", ATTR{idProduct}=="6015", MODE="0660", GROUP="plugdev", TAG+="uaccess", ENV{ID_MM_DEVICE_IGNORE}="1""#,
        #"SUBSYSTEM=="tty", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6015", MODE="0660", GROUP="plugdev", TAG+="uaccess""#,
      ])
  }

  @Test func allUdevRulesAreSkippedWhenADeviceIsRemoved() {
    let lines = UdevRules.lines(DriverRegister.all, group: "plugdev", shared: true)
    #expect(lines.filter { $0.contains("ACTION") } == [#"ACTION=="remove", GOTO="glucoport_end""#])
    let first = lines.firstIndex { $0.contains("ACTION") } ?? .max
    #expect(lines[..<first].allSatisfy { $0.hasPrefix("#") })
    #expect(lines.last == #"LABEL="glucoport_end""#)
  }

  /// Makes the checks of `udevadm verify` (systemd 254 and later) for the syntax that these rules use.
  @Test func udevAcceptsEveryWrittenRule() throws {
    let lines = UdevRules.lines(DriverRegister.all, group: "plugdev", shared: true)
    let matches: Set<String> = [
      "SUBSYSTEM", "ACTION", "ENV{DEVTYPE}", "ATTR{idVendor}", "ATTR{idProduct}", "ATTRS{idVendor}",
      "ATTRS{idProduct}",
    ]
    let assignments = [
      "MODE": "=", "GROUP": "=", "TAG": "+=", "GOTO": "=", "LABEL": "=", "ENV{ID_MM_DEVICE_IGNORE}": "=",
      "ENV{UDISKS_IGNORE}": "=", "ENV{SYSTEMD_USER_WANTS}": "+=",
    ]
    for line in lines where !line.isEmpty && !line.hasPrefix("#") {
      var hasAssigned = false
      for token in line.components(separatedBy: ", ") {
        let parts = try #require(
          try /([A-Z]+(?:\{[A-Za-z_]+\})?)(==|\+=|=)"([^"]+)"/.wholeMatch(in: token), "\(token)")
        let (key, operation) = (String(parts.1), String(parts.2))
        if operation == "==" {
          #expect(matches.contains(key) && !hasAssigned, "\(token)")
        } else {
          hasAssigned = true
          #expect(assignments[key] == operation, "\(token)")
        }
      }
    }
  }

  /// systemd reads the tags of devices in its file `73-seat-late.rules`, and ModemManager in files from
  /// number 77 on. So the file with the rules of glucoport must be sorted before these files.
  @Test func theUdevRulesFileSortsBeforeTheSystemRulesThatReadItsTags() throws {
    let command = USBBus.permissionCommand(isShared: false)
    let file = try #require(command.split(separator: " ").first { $0.hasSuffix(".rules") })
    #expect(file == "/etc/udev/rules.d/70-glucoport.rules")
    #expect(try #require(file.split(separator: "/").last) < "73-seat-late.rules")
  }

  @Test func noUdevRuleMakesAMeterReadableToAllUsers() {
    let rules = UdevRules.lines(drivers, group: "meters", shared: true).filter { $0.contains("MODE") }
    #expect(!rules.isEmpty)
    #expect(rules.allSatisfy { $0.contains(#"MODE="0660", GROUP="meters", TAG+="uaccess""#) })
  }

  @Test(arguments: [
    ("plugdev", true), ("meter-readers", true), ("_g1", true), ("", false), ("a b", false), ("1a", false),
    ("-a", false), ("a\"", false), ("Ä", false),
  ])
  func theGroupForUdevRulesMustBeAValidName(_ name: String, _ isOne: Bool) {
    #expect(UdevRules.isGroup(name) == isOne)
  }
}

private struct OwnDriver: MeterDriver {
  static let id = "own"
  static let name = "Own"
  static let models = [
    MeterModel("Own One", vendorID: 0x1209, productID: 1, link: .hid),
    MeterModel("Own disk", vendorID: 0x1209, productID: 2, link: .disk),
  ]

  func identify(_ meter: MeterConnection) throws -> MeterIdentity { throw Failure(.unavailable, "no meter") }
  func read(_ meter: MeterConnection) throws -> MeterContents { MeterContents(try identify(meter)) }
}

private struct CableDriver: MeterDriver {
  static let id = "cable"
  static let name = "Cable"
  static let models = [
    MeterModel(
      "Cable of its own", vendorID: 0x1209, productID: 3, link: .terminal(LineSettings(baud: 9600))),
    MeterModel(
      "Behind a cable", vendorID: 0x10C4, productID: 0xEA60, link: .terminal(LineSettings(baud: 9600)),
      isShared: true),
  ]

  func identify(_ meter: MeterConnection) throws -> MeterIdentity { throw Failure(.unavailable, "no meter") }
  func read(_ meter: MeterConnection) throws -> MeterContents { MeterContents(try identify(meter)) }
}

private struct OtherCableDriver: MeterDriver {
  static let id = "other-cable"
  static let name = "Other cable"
  static let models = [
    MeterModel(
      "Other behind a cable", vendorID: 0x10C4, productID: 0xEA60, link: .cp2110(LineSettings(baud: 9600)),
      isShared: true)
  ]

  func identify(_ meter: MeterConnection) throws -> MeterIdentity { throw Failure(.unavailable, "no meter") }
  func read(_ meter: MeterConnection) throws -> MeterContents { MeterContents(try identify(meter)) }
}
