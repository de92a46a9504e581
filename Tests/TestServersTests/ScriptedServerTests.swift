// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests the properties of servers that every suite relies on.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedServerTests {
  /// The system gives the number of a closed socket to the next one.
  @Test func aStoppedServerDoesNotAnswerClientsOfTheNextServer() throws {
    for number in 0..<1000 {
      let server = try ScriptedServer { _ in .status(200, Array("\(number)".utf8)) }
      let answer = try RawConnection(port: server.port).send("GET", "/", [], [])
      #expect(answer.text == "\(number)")
    }
  }

  @Test func noServerAnswersAtAClosedPort() throws {
    let port = try ScriptedServer.closedPort()
    #expect(throws: RawConnection.NoAnswer.self) { try RawConnection(port: port) }
  }
}
