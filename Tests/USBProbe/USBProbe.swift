// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import USBTransport

/// Lists the bus (`list`), or performs exchanges with one device: `1A79:7410 hid send=58 receive=64@200`.
///
/// Each exchange prints one line: the received bytes as hexadecimal digits, or the error. A failure is a
/// separate line.
@main
struct USBProbe {
  static func main() {
    SignalFlag.watch()
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      let bus = USBBus(isInterrupted: { SignalFlag.isRaised })
      if arguments == ["list"] { return try list(bus) }
      try session(bus, arguments)
    } catch let failure as Failure {
      printLine("failure \(failure.category): \(failure.message)")
    } catch {
      printLine("failure \(error)")
    }
  }

  private static func list(_ bus: USBBus) throws {
    for device in try bus.devices() {
      let ids = [device.vendorID, device.productID].map { hex($0) }.joined(separator: ":")
      let drivers = device.kernelDrivers.joined(separator: ",")
      printLine(
        "\(device.port) \(ids) '\(device.manufacturer)' '\(device.product)' '\(device.serial)' [\(drivers)] "
          + "\(device.node) \(device.mayOpenNode) \(device.terminal ?? "-") "
          + device.interfaceClasses.sorted().map { hex($0) }.joined(separator: ","))
    }
  }

  private static func session(_ bus: USBBus, _ arguments: [String]) throws {
    guard arguments.count >= 2, let link = link(arguments[1]) else {
      throw Failure(.usage, "usage: usb-probe list | IDS LINK STEP...")
    }
    let device = try bus.devices().first {
      "\(hex($0.vendorID)):\(hex($0.productID))" == arguments[0]
    }
    guard let device else { throw Failure(.unavailable, "no such device") }
    try bus.withTransport(to: device, link) { transport in
      for argument in arguments.dropFirst(2) {
        guard let step = ProbeStep(argument) else { throw Failure(.usage, "no step: \(argument)") }
        do throws(TransportError) {
          let bytes = try transport.perform(step.exchange, within: step.milliseconds)
          printLine("ok " + bytes.map { hex($0) }.joined())
        } catch {
          printLine("error \(error)")
        }
      }
    }
  }

  private static func link(_ name: String) -> MeterLink? {
    let line = LineSettings(baud: 19200)
    let links: [String: MeterLink] = [
      "hid": .hid, "bulk": .bulk(interfaceClass: 15), "disk": .disk, "cdc": .cdc(line),
      "cp2110": .cp2110(line),
      "terminal": .terminal(line),
    ]
    return links[name]
  }

  /// Writes a line at once, since a test waits for it.
  private static func printLine(_ line: String) {
    print(line)
    fflush(nil)
  }

  private static func hex(_ number: some FixedWidthInteger) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: number.bitWidth / 4 - digits.count) + digits
  }
}
