// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Reports states to the service manager: the protocol of sd_notify(3), one datagram each, without its library.
package struct ServiceNotifier: Sendable {
  /// A state as the protocol writes it.
  enum State {
    /// Requests are answered.
    case ready
    /// The settings are read again; `ready` ends that. The time is that of the monotonic clock.
    case reloading(microseconds: UInt64)
    /// Nothing more is accepted.
    case stopping
    /// The process works.
    case alive

    var text: String {
      switch self {
      case .ready: "READY=1"
      case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
      case .stopping: "STOPPING=1"
      case .alive: "WATCHDOG=1"
      }
    }
  }

  private let socketPath: String
  /// How often the service manager waits to hear that the process works; nil where it does not.
  let aliveInterval: Duration?

  /// The manager that the environment names; nil where it names none that can be reached.
  ///
  /// - Parameter environment: gives the value of a variable of the environment.
  package init?(environment: (_ name: String) -> String?) {
    guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else {
      return nil
    }
    socketPath = path
    let process = environment("WATCHDOG_PID")
    let isMeant = process == nil || process.flatMap { Int32($0) } == getpid()
    let time = isMeant ? environment("WATCHDOG_USEC").flatMap { Int64($0) } : nil
    // At half of the time, as sd_watchdog_enabled(3) advises.
    aliveInterval = time.flatMap { $0 > 1 ? .microseconds($0 / 2) : nil }
  }

  /// Sends a state.
  ///
  /// - Returns: whether the manager has it.
  func send(_ state: State) -> Bool {
    guard var address = sockaddr_un(path: socketPath, isAbstract: socketPath.hasPrefix("@")) else {
      return false
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // An abstract name has no end but the length.
    let length = 2 + socketPath.utf8.count + (socketPath.hasPrefix("@") ? 0 : 1)
    let bytes = Array(state.text.utf8)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length)) == bytes.count
      }
    }
  }

  /// The monotonic clock, as a reload states it.
  static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}
