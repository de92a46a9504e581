// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reports the state of the server to the service manager. It implements the protocol of sd_notify(3) without
/// its library: one datagram for each state.
package struct ServiceNotifier: Sendable {
  /// A state of the server, as the protocol defines them.
  enum ServiceState {
    /// The server answers requests.
    case ready
    /// The server is reloading its settings, until it reports `ready`. The value is the time of the monotonic
    /// clock.
    case reloading(microseconds: UInt64)
    /// The server accepts no more connections.
    case stopping
    /// The server still responds. If this state is not reported in time, the watchdog of the service manager
    /// restarts the server.
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
  /// The interval in which `alive` must be reported; nil if the service manager has no watchdog for this
  /// service.
  let aliveInterval: Duration?

  /// The service manager that environment variables name; nil if they name none.
  ///
  /// - Parameter environment: returns the value of an environment variable.
  package init?(environment: (_ name: String) -> String?) {
    guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else {
      return nil
    }
    socketPath = path
    let process = environment("WATCHDOG_PID")
    let isMeant = process == nil || process.flatMap { Int32($0) } == getpid()
    let time = isMeant ? environment("WATCHDOG_USEC").flatMap { Int64($0) } : nil
    // Half of the time after which the watchdog acts, as sd_watchdog_enabled(3) recommends.
    aliveInterval = time.flatMap { $0 > 1 ? .microseconds($0 / 2) : nil }
  }

  /// Sends a state.
  ///
  /// - Returns: whether the manager received it.
  func send(_ state: ServiceState) -> Bool {
    guard var address = sockaddr_un(path: socketPath, isAbstract: socketPath.hasPrefix("@")) else {
      return false
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // The name of an abstract socket has no final NUL, so the length of the address determines its end.
    let length = 2 + socketPath.utf8.count + (socketPath.hasPrefix("@") ? 0 : 1)
    let bytes = Array(state.text.utf8)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length)) == bytes.count
      }
    }
  }

  /// The current time of the monotonic clock, for `ServiceState.reloading`.
  static var monotonicMicroseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}
