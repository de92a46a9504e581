// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import SimulatedUSB
import Synchronization

/// The ports of the kernel's `vhci_hcd`, and the USB stack's view of the devices there.
enum GuestBus {
  private static let controller = "/sys/devices/platform/vhci_hcd.0"
  private static let devices = "/sys/bus/usb/devices"

  /// A device at the first port, until it is unplugged.
  final class Plug: Sendable {
    private let ownEnd: Int32
    private let ended = Mutex<Int?>(nil)

    /// - Parameter make: makes the device. It is called on the thread that serves the device.
    init(_ make: @escaping @Sendable () -> SimulatedDevice) throws {
      var ends: [Int32] = [0, 0]
      // If a program under test inherited one of these sockets, the device would stay connected.
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EIO) }
      let (ownEnd, kernelsEnd) = (ends[0], ends[1])
      self.ownEnd = ownEnd
      Thread.detachNewThread { [self] in
        let connection = USBIPConnection(make(), over: ownEnd)
        connection.serve()
        close(ownEnd)
        ended.withLock { $0 = connection.transfers }
      }
      // The line states the port, the connection, the device's number in USB/IP, and the speed (full).
      try Data("0 \(kernelsEnd) 65538 2".utf8).write(to: URL(filePath: controller + "/attach"))
      close(kernelsEnd)
    }

    /// Unplugs the device, and waits until the kernel has noticed it.
    ///
    /// - Returns: the number of transfers.
    func pull() throws -> Int {
      shutdown(ownEnd, Int32(SHUT_RDWR))
      try wait("the device to go") { interfaces().isEmpty && isFree && ended.withLock { $0 != nil } }
      return ended.withLock { $0 ?? 0 }
    }

    /// Whether the first port is free. The line of a free port in `status` begins with the hub, the port and
    /// the state 4.
    private var isFree: Bool {
      guard let text = try? String(contentsOfFile: controller + "/status", encoding: .utf8) else {
        return false
      }
      return text.contains("hs  0000 004")
    }
  }

  /// The kernel's driver of each interface; an empty text for none.
  static func drivers() -> [String] {
    interfaces().map { interface in
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(devices)/\(interface)/driver")
      return link.map { String($0[$0.index(after: $0.lastIndex(of: "/") ?? $0.startIndex)...]) } ?? ""
    }
  }

  /// Waits for a condition for at most a minute, since the guest's processor is simulated.
  static func wait(_ what: String, until condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
      guard ContinuousClock.now < end else { throw GuestFailure(reason: "waited in vain for \(what)") }
      usleep(10_000)
    }
  }

  /// Interfaces of devices, without those of hubs.
  private static func interfaces() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: devices)) ?? []
    return names.filter { $0.contains("-") && $0.contains(":") && !$0.hasSuffix("-0:1.0") }.sorted()
  }
}

/// A failure for the person who runs the guest.
struct GuestFailure: Error {
  let reason: String
}
