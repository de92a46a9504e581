// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SimulatedUSB

/// A run of the probe at a simulated bus.
struct Probe {
  /// Far over what any run takes, so that one that hangs fails its test instead of all.
  private static let limitSeconds = 60.0

  let process = Process()
  private let output = Pipe()

  /// Starts it. As nobody, where the permissions of files have to hold for it.
  init(_ bus: SimulatedBus, _ arguments: [String], asNobody: Bool = false) throws {
    let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let binary = products.appending(path: "usb-probe").path
    if asNobody && getuid() == 0 {
      // The tree that was built may be closed to others, so the binary comes along.
      let copy = bus.root + "/usb-probe"
      if !FileManager.default.fileExists(atPath: copy) {
        try FileManager.default.copyItem(atPath: binary, toPath: copy)
      }
      process.executableURL = URL(filePath: "/usr/bin/setpriv")
      process.arguments = ["--reuid=65534", "--regid=65534", "--clear-groups", copy] + arguments
    } else {
      process.executableURL = URL(filePath: binary)
      process.arguments = arguments
    }
    process.environment = ProcessInfo.processInfo.environment.merging(bus.environment) { $1 }
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  /// Waits for what it writes first.
  func firstOutput() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

  /// Waits for the end, and gives the lines that it wrote since.
  func lines() throws -> [String] {
    let identifier = process.processIdentifier
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + Self.limitSeconds)
    timer.setEventHandler { kill(identifier, SIGKILL) }
    timer.resume()
    defer { timer.cancel() }
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// What a whole run wrote.
  static func run(_ bus: SimulatedBus, _ arguments: String..., asNobody: Bool = false) throws -> [String] {
    try Probe(bus, arguments, asNobody: asNobody).lines()
  }
}
