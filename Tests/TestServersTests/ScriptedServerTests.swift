// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// What every suite trusts in its servers.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedServerTests {
  /// The system gives the number of a socket that was closed to the next one.
  @Test func aServerThatGoesTakesNoClientsOfTheNext() throws {
    for number in 0..<1000 {
      let server = try ScriptedServer { _ in .status(200, Array("\(number)".utf8)) }
      let answer = try RawConnection(port: server.port).send("GET", "/", [], [])
      #expect(answer.text == "\(number)")
    }
  }

  @Test func nobodyListensAtAClosedPort() throws {
    let port = try ScriptedServer.closedPort()
    #expect(throws: RawConnection.NoAnswer.self) { try RawConnection(port: port) }
  }
}
