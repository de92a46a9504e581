// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import Meters
import SimulatedMeters
import SimulatedUSB

/// Runs a command with a simulated meter on a simulated bus, for benchmarks and experiments: `meter-plug
/// DRIVER COUNT COMMAND...`, with this many readings in the meter.
///
/// It ends with the command's status, after a line with packets and seconds on the standard error.
@main
struct MeterPlug {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let family = SimulatedRegister.plugged.first { $0.driver == arguments.first }
    guard let family, let count = arguments.dropFirst().first.flatMap({ Int($0) }), arguments.count > 2 else {
      try FileHandle.standardError.write(
        contentsOf: Data("usage: meter-plug DRIVER COUNT COMMAND...\n".utf8))
      exit(64)
    }
    let bus = try SimulatedBus()
    let server = try plug(family, memory(family, count), to: bus)
    let start = ContinuousClock.now
    let status = try run(Array(arguments.dropFirst(2)), bus.environment)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let packets = server.map { "\($0.steps) packets, " } ?? ""
    let line = "meter-plug: \(packets)\(String(format: "%.3f", seconds)) s\n"
    try FileHandle.standardError.write(contentsOf: Data(line.utf8))
    bus.remove()
    exit(status)
  }

  /// One reading per half hour until shortly before today.
  private static func memory(_ family: SimulatedFamily, _ count: Int) -> SimulatedMemory {
    let now = Int64(Date().timeIntervalSince1970)
    var memory = SimulatedMemory(clock: DeviceTime(seconds: now))
    memory.items = (0..<count).map { index in
      SimulatedItem(
        family.driver == "dexcom-g4" ? .cbg : .smbg,
        at: DeviceTime(seconds: (now / 1800 - Int64(count - index)) * 1800),
        .value(Quantity(Double(70 + index % 200), .milligramsPerDecilitre)))
    }.filter(family.holds)
    return memory
  }

  private static func plug(
    _ family: SimulatedFamily, _ memory: SimulatedMemory, to bus: SimulatedBus
  ) throws -> DeviceServer? {
    switch family.make(memory) {
    case .usb(let meter): return try bus.plug(SimulatedDevice(meter))
    case .line(let line):
      let models = DriverRegister.driver(family.driver)?.models ?? []
      guard let model = models.first(where: { if case .terminal = $0.link { true } else { false } }) else {
        throw Failure(.usage, "the driver knows no meter behind a terminal")
      }
      try bus.plug(line, vendorID: model.vendorID, productID: model.productID)
      return nil
    case .radio: throw Failure(.usage, "a meter with Bluetooth has no plug")
    }
  }

  private static func run(_ command: [String], _ environment: [String: String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = environment.map { "\($0.key)=\($0.value)" } + command
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
