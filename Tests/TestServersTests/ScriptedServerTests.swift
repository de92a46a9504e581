// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests properties of scripted servers on which all test suites rely.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedServerTests {
  /// The system assigns the number of a closed socket to the next socket, so the next server can get it.
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
