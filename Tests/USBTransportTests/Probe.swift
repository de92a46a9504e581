// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SimulatedUSB

/// A run of the program `usb-probe` on a simulated USB bus.
struct Probe {
  /// The time limit of a run, far above the time of any run. A run that hangs fails only its test.
  private static let limitSeconds = 60.0

  let process = Process()
  private let output = Pipe()

  /// Starts the probe. `isUnprivileged` runs it as the user `nobody`, for tests in which the permissions of
  /// files must apply.
  init(_ bus: SimulatedBus, _ arguments: [String], isUnprivileged: Bool = false) throws {
    let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let binary = products.appending(path: "usb-probe").path
    if isUnprivileged && getuid() == 0 {
      // Other users may be unable to read the build folder, so the binary is copied.
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

  /// Waits for the first output, and returns it.
  func firstOutput() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

  /// Waits for the end, and returns the lines written since.
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

  /// Runs the probe to its end, and returns its output.
  static func run(_ bus: SimulatedBus, _ arguments: String..., isUnprivileged: Bool = false) throws
    -> [String]
  {
    try Probe(bus, arguments, isUnprivileged: isUnprivileged).lines()
  }
}
