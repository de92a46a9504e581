// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A D-Bus with a simulated bluetoothd, which is the program `Tests/bluetooth-peer.py`.
package final class BluetoothPeer {
  /// The address of the D-Bus.
  package let address: String

  private let folder: URL
  private var daemon: Child?
  private var peer: Child?
  private var watch: Child?

  private struct Failure: Error { let reason: String }

  /// - Parameters:
  ///   - options: the argument of the peer, as JSON; nil for a bus without bluetoothd.
  ///   - isWatched: whether to watch the bus, which `facts` needs.
  package init(_ options: String?, isWatched: Bool = false) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-bus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    address = "unix:path=\(folder.path)/bus"
    let configuration = folder.appending(path: "bus.conf")
    try Self.configuration(address).write(to: configuration, atomically: true, encoding: .utf8)
    let daemon = try Child(
      ["/usr/bin/dbus-daemon", "--config-file=\(configuration.path)", "--nofork", "--print-address=1"], [])
    self.daemon = daemon
    guard daemon.line()?.hasPrefix("unix:") == true else { throw Failure(reason: "no bus") }
    let environment = ["DBUS_SYSTEM_BUS_ADDRESS=\(address)", "PATH=/usr/bin:/bin"]
    if isWatched {
      let watch = try Child(["/usr/bin/python3", Self.path("bluetooth-facts.py")], environment)
      self.watch = watch
      guard watch.line() == "ready" else { throw Failure(reason: "the bus is not watched") }
    }
    guard let options else { return }
    let peer = try Child(["/usr/bin/python3", Self.path("bluetooth-peer.py"), options], environment)
    self.peer = peer
    guard peer.line() == "ready" else { throw Failure(reason: "the peer did not start") }
  }

  deinit {
    end()
    watch?.end()
    do { try FileManager.default.removeItem(at: folder) } catch {}
  }

  /// Ends the D-Bus and the simulated bluetoothd. Returns the requests that bluetoothd received, one on each
  /// line.
  @discardableResult
  package func end() -> [String] {
    peer?.end()
    daemon?.end()
    var lines: [String] = []
    while let line = peer?.line() { lines.append(line) }
    (peer, daemon) = (nil, nil)
    return lines
  }

  /// Ends all programs, and returns the facts about the peer's behaviour that `Tests/bluetooth-facts.py`
  /// prints.
  package func facts() -> [String] {
    end()
    watch?.end()
    var lines: [String] = []
    while let line = watch?.line() { lines.append(line) }
    watch = nil
    return lines
  }

  /// The recorded facts about the behaviour of the real bluetoothd.
  package static func recordedFacts() throws -> Set<String> {
    let text = try String(contentsOfFile: path("Fixtures/bluetoothd-5.66.txt"), encoding: .utf8)
    return Set(text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init))
  }

  private static func path(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: name)
      .path
  }

  private static func configuration(_ address: String) -> String {
    """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <listen>\(address)</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
    </busconfig>
    """
  }
}

/// A program whose standard output is read.
private final class Child {
  private let process: pid_t
  private let output: Int32

  private struct Failure: Error { let reason: String }

  init(_ arguments: [String], _ environment: [String]) throws {
    var pipe: [Int32] = [-1, -1]
    guard Glibc.pipe(&pipe) == 0 else { throw Failure(reason: "no pipe") }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(pipe[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO)
    let words = arguments.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, arguments[0], &actions, nil, words, variables)
    (self.process, output) = (process, pipe[0])
    guard code == 0 else { throw Failure(reason: "\(arguments[0]): \(String(cString: strerror(code)))") }
  }

  deinit { close(output) }

  /// The next line; nil after the end.
  func line() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }

  func end() {
    kill(process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    // Another child of this process may also hold the pipe open, so a blocking read would never see its end.
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
  }
}
