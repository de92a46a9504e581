// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import Testing

@testable import LogbookServer

/// Tests sockets that a service manager passes to the server, and Unix sockets in the file system.
@Suite final class SystemSocketTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "gp-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // A leftover folder among temporary ones is harmless.
    }
  }

  private func sockets(_ variables: [String: String]) throws -> [SystemSocket] {
    try SystemSocket.all { variables[$0] }
  }

  // MARK: - Sockets of the service manager

  @Test func systemdSocketsForAnotherProcessAreIgnored() throws {
    #expect(try sockets([:]).isEmpty)
    #expect(try sockets(["LISTEN_FDS": "1"]).isEmpty)
    #expect(try sockets(["LISTEN_FDS": "1", "LISTEN_PID": "1"]).isEmpty)
    #expect(try sockets(["LISTEN_FDS": "x", "LISTEN_PID": "1"]).isEmpty)
    #expect(try sockets(["LISTEN_FDS": "1", "LISTEN_PID": "x"]).isEmpty)
    #expect(try sockets(["LISTEN_PID": "\(getpid())"]).isEmpty)
    #expect(try sockets(["LISTEN_FDS": "0", "LISTEN_PID": "\(getpid())"]).isEmpty)
  }

  /// If the server ignored a socket that is passed, clients of this socket would wait in vain.
  @Test(arguments: ["x", "", "-1", "65", "1.5", "99999999999", "1 "])
  func anInvalidNumberOfSystemdSocketsIsRefused(_ count: String) {
    #expect {
      _ = try sockets(["LISTEN_FDS": count, "LISTEN_PID": "\(getpid())"])
    } throws: {
      ($0 as? Failure)?.category == .configuration && "\($0)".contains("LISTEN_FDS")
    }
  }

  // MARK: - Unix sockets

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  private func expectTaken(_ path: String) {
    #expect {
      _ = try UnixSocket(path: path, mode: 0o600)
    } throws: {
      ($0 as? Failure)?.category == .unavailable && "\($0)".contains("unix:\(path)")
    }
  }

  @Test(arguments: [mode_t(0o600), 0o660, 0o666, 0o000])
  func aUnixSocketHasTheGivenModeWhateverTheUmask(_ wanted: mode_t) throws {
    let path = folder.path + "/a"
    let made = try UnixSocket(path: path, mode: wanted)
    defer { close(made.descriptor) }
    #expect(mode(path) == wanted)
    made.remove()
    #expect(mode(path) == nil)
  }

  @Test func aUnixSocketInUseIsKeptAndALeftoverOneIsReplaced() throws {
    let path = folder.path + "/a"
    let first = try UnixSocket(path: path, mode: 0o600)
    expectTaken(path)
    #expect(mode(path) == 0o600)
    close(first.descriptor)
    let second = try UnixSocket(path: path, mode: 0o660)
    defer { close(second.descriptor) }
    #expect(mode(path) == 0o660)
    // `remove` must not delete the file of a third socket that has replaced the second one.
    let other = folder.path + "/b"
    let third = try UnixSocket(path: other, mode: 0o600)
    defer { close(third.descriptor) }
    #expect(rename(other, path) == 0)
    second.remove()
    #expect(mode(path) == 0o600, "that of another stays")
  }

  @Test func aFileThatIsNotASocketIsNotReplacedByTheServer() throws {
    let file = folder.path + "/file"
    #expect(FileManager.default.createFile(atPath: file, contents: Data("text".utf8)))
    expectTaken(file)
    #expect(FileManager.default.contents(atPath: file) == Data("text".utf8))
    let (link, target) = (folder.path + "/link", folder.path + "/target")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    expectTaken(link)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
    #expect(mode(target) == nil, "nothing is made behind a link")
    expectTaken(folder.path)
    let pipe = folder.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    expectTaken(pipe)
    #expect(mode(pipe) == 0o600)
  }

  @Test func anImpossibleUnixSocketPathIsReportedAsUnavailable() {
    expectTaken(folder.path + "/none/a")
    expectTaken(folder.path + "/" + String(repeating: "x", count: 120))
  }

  // MARK: - Addresses

  @Test(arguments: [
    ("127.0.0.1:1", true), ("127.255.255.255:1", true), ("localhost:1", true), ("[::1]:1", true),
    ("unix:/run/x", true), ("0.0.0.0:1", false), ("[::]:1", false), ("128.0.0.1:1", false),
    ("127.1:1", false),
    ("127.0.0.1.example.com:1", false), ("127.0.0.256:1", false), ("127.0.0.:1", false), ("[::2]:1", false),
    ("localhost.example.com:1", false), ("192.0.2.1:1", false),
  ])
  func onlyLoopbackAddressesAndUnixSocketsCountAsLocal(_ text: String, _ isLoopback: Bool) throws {
    let address = try #require(ListeningAddress(text: text))
    #expect(address.isLoopback == isLoopback)
    #expect(address.text == text)
  }

  @Test(arguments: [
    "", ":1", "host", "host:", "host:x", "host:65536", "host:-1", "::1:1", "[]:1", "[::1]", "unix:", "a b:",
    "host:1 ",
  ])
  func anInvalidListeningAddressIsRefused(_ text: String) {
    #expect(ListeningAddress(text: text) == nil)
  }
}
