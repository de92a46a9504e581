// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import LogbookServer

/// Tests the messages to a service manager, and the environment variables that it sets.
@Suite struct NotifierTests {
  private func manager(_ variables: [String: String]) -> ServiceNotifier? {
    ServiceNotifier { variables[$0] }
  }

  @Test func aStateIsSentToSystemdThroughAnAbstractSocket() throws {
    let name = "glucoport-\(UUID().uuidString)"
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: [0] + Array(name.utf8)) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(3 + name.utf8.count))
      }
    }
    try #require(bound == 0)
    let notifier = try #require(self.manager(["NOTIFY_SOCKET": "@\(name)"]))
    var buffer = [UInt8](repeating: 0, count: 256)
    for state: ServiceNotifier.ServiceState in [.ready, .reloading(microseconds: 5), .stopping, .alive] {
      #expect(notifier.send(state))
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      #expect(count > 0 && String(decoding: buffer[..<max(0, count)], as: UTF8.self) == state.text)
    }
    #expect(ServiceNotifier.ServiceState.reloading(microseconds: 5).text == "RELOADING=1\nMONOTONIC_USEC=5")
  }

  @Test func aStateThatCannotBeSentToSystemdIsReported() throws {
    #expect(try !#require(self.manager(["NOTIFY_SOCKET": "@glucoport-\(UUID().uuidString)"])).send(.ready))
    #expect(
      try !#require(self.manager(["NOTIFY_SOCKET": "/nowhere/" + String(repeating: "x", count: 200)])).send(
        .ready))
  }

  @Test func withoutASupportedNotifySocketSystemdIsNotNotified() {
    #expect(manager([:]) == nil)
    #expect(manager(["NOTIFY_SOCKET": "vsock:2:1234"]) == nil)
  }

  @Test func theWatchdogOfSystemdIsNotifiedAtHalfItsIntervalByItsOwnProcess() {
    func interval(_ variables: [String: String]) -> Duration? {
      manager(variables.merging(["NOTIFY_SOCKET": "/run/x"]) { $1 })?.aliveInterval
    }
    #expect(interval([:]) == nil)
    #expect(interval(["WATCHDOG_USEC": "60000000"]) == .seconds(30))
    #expect(interval(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "\(getpid())"]) == .seconds(30))
    #expect(interval(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"]) == nil)
    for wrong in ["0", "-5", "soon", ""] { #expect(interval(["WATCHDOG_USEC": wrong]) == nil) }
  }
}
