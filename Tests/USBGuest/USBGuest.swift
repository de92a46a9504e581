// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SimulatedMeters
import SimulatedUSB
import USBTransport

/// Lets the built binary read simulated meters through the kernel's own USB stack, for all drivers or some:
/// `usb-guest GLUCOPORT [DRIVER]...`. It runs as root in a guest whose kernel has `vhci_hcd`, which
/// `Tests/usb-guest.sh` makes.
///
/// `usb-guest plug DRIVER COUNT` only plugs in a meter with this many readings, and unplugs it when its
/// standard input ends.
@main
struct USBGuest {
  static func main() throws {
    if CommandLine.arguments.dropFirst().first == "plug" {
      return try plug(CommandLine.arguments.dropFirst(2))
    }
    let trial = GuestTrial(program: CommandLine.arguments.dropFirst().first ?? "glucoport")
    let drivers = CommandLine.arguments.dropFirst(2)
    var failures = 0
    for family in SimulatedRegister.plugged where drivers.isEmpty || drivers.contains(family.driver) {
      do {
        try trial.read(family)
      } catch {
        failures += 1
        printLine("FAILED \(family): \((error as? GuestFailure)?.reason ?? "\(error)")")
      }
    }
    do {
      try trial.unplugInMidSession()
    } catch {
      failures += 1
      printLine("FAILED unplugging: \((error as? GuestFailure)?.reason ?? "\(error)")")
    }
    printLine("failures: \(failures)")
    exit(failures == 0 ? 0 : 1)
  }

  private static func plug(_ arguments: ArraySlice<String>) throws {
    let family = SimulatedRegister.plugged.first { $0.driver == arguments.first }
    guard arguments.count == 2, let family, let count = arguments.last.flatMap({ Int($0) }),
      let make = GuestMeter.device(family, GuestMeter.memory(family, count: count))
    else {
      throw GuestFailure(reason: "usage: usb-guest plug DRIVER COUNT, of a driver whose chip is simulated")
    }
    let plug = try GuestBus.Plug(make)
    printLine("plugged \(family)")
    _ = FileHandle.standardInput.readDataToEndOfFile()
    printLine("pulled after \(try plug.pull()) transfers")
  }
}

/// Writes a line at once, since the guest may end before the program.
private func printLine(_ line: String) {
  print(line)
  fflush(nil)
}

/// Runs the binary several times, each time with a connected meter.
struct GuestTrial {
  let program: String

  /// Plugs a meter in, reads it twice, and checks that the kernel's drivers use their interfaces again.
  func read(_ family: SimulatedFamily) throws {
    let memory = GuestMeter.memory(family)
    guard let make = GuestMeter.device(family, memory) else {
      return printLine("no chip \(family): its kernel driver's chip is not simulated")
    }
    let store = "/tmp/\(family.driver)-\(family.variant.filter(\.isLetter)).db"
    var (transfers, seconds) = (0, 0.0)
    var drivers: [String] = []
    for round in 0..<2 {
      let plug = try GuestBus.Plug(make)
      drivers = try settled(make())
      let start = ContinuousClock.now
      let run = try execute(
        ["import", "--meter", "--driver", family.driver, "--timezone", "UTC", "--json", "--store", store])
      seconds += (ContinuousClock.now - start) / .seconds(1)
      let after = GuestBus.drivers()
      transfers += try plug.pull()
      let count = memory.items.count
      let wanted = round == 0 ? "\"new\":\(count),\"known\":0," : "\"new\":0,\"known\":\(count),"
      guard run.status == 0, run.output.contains(wanted) else {
        throw GuestFailure(reason: "status \(run.status), \(run.output) \(run.errors)")
      }
      guard after == drivers else { throw GuestFailure(reason: "\(drivers) became \(after)") }
    }
    let held = drivers.map { $0.isEmpty ? "no driver" : $0 }.joined(separator: "+")
    printLine(
      "ok \(family): \(held), \(transfers) transfers, \(String(format: "%.2f", seconds / 2)) s a read")
  }

  /// Unplugs a meter while it is read. Nothing must be stored, and the binary must end.
  func unplugInMidSession() throws {
    let family = SimulatedRegister.plugged[0]
    let memory = GuestMeter.memory(family)
    let make: @Sendable () -> SimulatedDevice = {
      guard case .usb(let meter) = family.make(memory) else {
        preconditionFailure("a Contour is a USB device")
      }
      return SimulatedDevice(meter, fault: Fault(.unplug, at: 12))
    }
    let plug = try GuestBus.Plug(make)
    _ = try settled(make())
    let run = try execute(["import", "--meter", "--timezone", "UTC", "--store", "/tmp/unplugged.db"])
    _ = try plug.pull()
    guard run.status == 69, !FileManager.default.fileExists(atPath: "/tmp/unplugged.db") else {
      throw GuestFailure(reason: "status \(run.status), \(run.output) \(run.errors)")
    }
    printLine("ok unplugging in mid-session: \(run.errors.trimmingCharacters(in: .newlines))")
  }
}

extension GuestTrial {
  /// Waits until the kernel's drivers use their interfaces of the device. Returns the driver of each
  /// interface.
  private func settled(_ device: SimulatedDevice) throws -> [String] {
    let wanted = SimulatedPort.interfaces(device.meter.configurationDescriptor).map { interface in
      switch interface.interfaceClass {
      case 0x02, 0x0A: "cdc_acm"
      case 0x03: "usbhid"
      case 0x08: "usb-storage"
      case 0xFF where device.vendorID == 0x10C4: "cp210x"
      default: ""
      }
    }
    try GuestBus.wait("the drivers \(wanted), not \(GuestBus.drivers())") { GuestBus.drivers() == wanted }
    if wanted == ["cp210x"] {
      try GuestBus.wait("a terminal") { FileManager.default.fileExists(atPath: "/dev/ttyUSB0") }
    }
    return wanted
  }

  /// Runs the program without standard input, and with its output in files.
  private func execute(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let paths = ["/tmp/output", "/tmp/errors"]
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (index, path) in paths.enumerated() {
      posix_spawn_file_actions_addopen(
        &actions, Int32(index + 1), path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var (process, status): (pid_t, Int32) = (0, 0)
    guard posix_spawn(&process, program, &actions, nil, &words, environ) == 0 else {
      throw GuestFailure(reason: "cannot start \(program)")
    }
    try GuestBus.wait("the program to end") { waitpid(process, &status, WNOHANG) == process }
    let text = try paths.map { try String(contentsOfFile: $0, encoding: .utf8) }
    return (status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F, text[0], text[1])
  }
}
