// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import LogbookAPI
import TestProgram
import TestServers
import Testing

/// Tests `glucoport remote` as people and cron jobs run it, with servers of the test on the loopback
/// interface.
@Suite(.timeLimit(.minutes(10)))
struct RemoteTests {
  private static let secret = "gp_planted-Secret.0815"
  private static let anna = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"
  private static let other = "99999999-9999-4999-8999-999999999999"

  private static func logbook(_ id: String = anna, canWrite: Bool = true) -> ScriptedAnswer {
    let logbook = RemoteLogbook(
      id: id, name: "Anna \u{1B}[31m", isWritable: canWrite, maxReadings: 10_000, maxRecords: 1000,
      time: 1_577_836_800)
    return .status(200, WireCodec.write(logbook))
  }

  /// The program, and the path of a token file in its folder.
  private func program() throws -> (program: Program, token: String) {
    let program = try Program()
    let path = try program.write(Self.secret + "\n", to: "token")
    #expect(chmod(path, 0o600) == 0)
    return (program, path)
  }

  @Test func aRemoteIsSetShownTestedAndRemoved() async throws {
    let (program, token) = try program()
    let server = try ScriptedServer { _ in Self.logbook() }
    let set = try await program.run("remote", "set", server.url + "/", "--token-file", token)
    #expect(set.status == 0, "\(set.errors)")
    #expect(
      set.output == """
        \(server.url) · glucoport server
          logbook Anna  [31m (\(Self.anna)) · read and write

        """)
    #expect(try mode(of: program.store) == 0o600)
    let show = try await program.run("remote", "show")
    #expect(show.status == 0 && show.output.contains("token from the file \(token)"), "\(show)")
    #expect(show.output.contains("last success never"))
    let test = try await program.run("remote", "test")
    #expect(test.status == 0 && test.output.contains("behind this computer's"), "\(test)")
    #expect(test.output.contains("read and write"))
    // If a store has no remote yet, `remote set` also requests the time zone of the logbook.
    #expect(
      server.requests.map { String($0.path.prefix { $0 != "?" }) }
        == [WireProtocol.logbookPath, WireProtocol.changesPath, WireProtocol.logbookPath])
    #expect(set.errors.contains("the first upload fetches the time zone"), "\(set)")
    #expect(server.requests.allSatisfy { $0.headers["authorization"] == "Bearer \(Self.secret)" })
    let remove = try await program.run("remote", "remove")
    #expect(remove.status == 0 && remove.output.contains("removed"))
    for command in ["show", "test"] {
      let outcome = try await program.run("remote", command)
      #expect(outcome.status == 78 && outcome.errors.contains("remote set"), "\(outcome)")
    }
    let again = try await program.run("remote", "remove")
    #expect(again.status == 0 && again.output.contains("no remote"))
  }

  @Test func remoteShowAsJSONPrintsOneObject() async throws {
    let (program, _) = try program()
    let server = try ScriptedServer { _ in Self.logbook() }
    let set = try await program.run("remote", "set", server.url, "--token-command", "cat \"$HOME/token\"")
    #expect(set.status == 0, "\(set.errors)")
    let object = try #require(try await program.run("remote", "show", "--json").objects().first)
    #expect(object["url"] as? String == server.url && object["token_source"] as? String == "command")
    #expect(object["logbook"] as? String == Self.anna && object["token_file"] is NSNull)
  }

  /// By default, the threads of the Swift runtime would write to the system log during each upload.
  /// `Tests/plug-in.sh` checks a real system log.
  @Test(arguments: [("", "NO"), ("LIBDISPATCH_LOG=stderr ", "stderr")])
  func theSwiftRuntimeLogsOnlyIfTheEnvironmentRequestsIt(_ given: String, _ seen: String) async throws {
    let (program, _) = try program()
    let server = try ScriptedServer { _ in Self.logbook() }
    let set = try await program.shell(
      """
      \(given)glucoport remote set \(server.url) --token-command 'echo "$LIBDISPATCH_LOG" >"$HOME/seen"; cat "$HOME/token"' >output
      cat seen
      """)
    #expect(set.status == 0 && set.output == seen + "\n", "\(set)")
  }

  @Test func aRelativeTokenFileIsFoundFromEveryFolder() async throws {
    let (program, token) = try program()
    let server = try ScriptedServer { _ in Self.logbook() }
    let set = try await program.shell(
      "mkdir -p deep/er && cd deep/er && glucoport remote set \(server.url) --token-file ../../token")
    #expect(set.status == 0, "\(set.errors)")
    let show = try await program.run("remote", "show")
    let real = URL(filePath: token).resolvingSymlinksInPath().path
    #expect(show.output.contains("file \(real)") || show.output.contains("file \(token)"), "\(show.output)")
    #expect(try await program.run("remote", "test").status == 0)
  }

  @Test(
    arguments: [
      (ScriptedAnswer.raw(""), 69), (.raw("", .reset), 69), (.status(502), 69),
      (.status(401, ErrorBody(.login, "unknown token").json), 77), (.status(403), 77),
      (.status(429, headers: ["Retry-After: 30"]), 75), (.status(503), 75), (.status(500), 75),
      (.status(404), 76), (.status(200, Array("<html>".utf8)), 76), (.status(413), 76),
      (.status(400, ErrorBody(.badRequest, "no").json), 76),
      (.status(302, headers: ["Location: http://b/"]), 76),
      (.raw("not http\r\n\r\n"), 76),
    ] as [(ScriptedAnswer, Int32)])
  func aRemoteThatDoesNotAnswerIsNotSaved(_ answer: ScriptedAnswer, _ status: Int32) async throws {
    let (program, token) = try program()
    let server = try ScriptedServer { _ in answer }
    let empty = try FolderListing(program.folder)
    let first = try await program.run("remote", "set", server.url, "--token-file", token)
    #expect(first.status == status, "\(first)")
    #expect(
      first.errors.hasPrefix("glucoport: 127.0.0.1:\(server.port): ") && first.output.isEmpty, "\(first)")
    #expect(try FolderListing(program.folder) == empty)
    let sample = try await program.run("import", "-", input: GeneratedExport.csv(rows: 3))
    #expect(sample.status == 0)
    let stored = try FolderListing(program.folder)
    let second = try await program.run("remote", "set", server.url, "--token-file", token)
    #expect(second.status == status)
    #expect(try FolderListing(program.folder) == stored)
  }

  @Test func settingARemoteThatDoesNotRunEndsWithStatus69() async throws {
    let (program, token) = try program()
    let url = "http://127.0.0.1:\(try ScriptedServer.closedPort())"
    let outcome = try await program.run("remote", "set", url, "--token-file", token)
    #expect(outcome.status == 69 && outcome.errors.contains("Connection refused"), "\(outcome)")
  }

  @Test func invalidTokensAndAddressesAreRefusedBeforeAnyRequest() async throws {
    let (program, token) = try program()
    let open = try program.write(Self.secret, to: "open")
    #expect(chmod(open, 0o644) == 0)
    let server = try ScriptedServer { _ in Self.logbook() }
    let before = try FolderListing(program.folder)
    let attempts: [([String], Int32)] = [
      (["http://192.0.2.1", "--token-file", token], 78), (["host.example", "--token-file", token], 78),
      ([server.url, "--token-file", open], 77), ([server.url, "--token-file", token + ".none"], 66),
      ([server.url, "--token-command", "exit 4"], 77), ([server.url, "--token-command", "true"], 78),
      ([server.url], 64), ([server.url, "--token-file", token, "--token-command", "true"], 64),
    ]
    for (arguments, status) in attempts {
      let outcome = try await program.run(arguments: ["remote", "set"] + arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome)")
    }
    #expect(server.connectionCount == 0)
    #expect(try FolderListing(program.folder) == before)
  }

  @Test func changingToAnotherLogbookNeedsAnOptionAndQueuesEverythingAgain() async throws {
    let (program, token) = try program()
    let first = try ScriptedServer { _ in Self.logbook() }
    let second = try ScriptedServer { _ in Self.logbook(Self.other) }
    #expect(try await program.run("import", "-", input: GeneratedExport.csv(rows: 5)).status == 0)
    #expect(try await program.run("remote", "set", first.url, "--token-file", token).status == 0)
    try StoreFile(program.store).execute("UPDATE reading SET uploaded = 1; UPDATE series SET pending = 0")
    let before = try FolderListing(program.folder)
    let refused = try await program.run("remote", "set", second.url, "--token-file", token)
    #expect(refused.status == 78 && refused.errors.contains("--new-remote"), "\(refused)")
    #expect(try FolderListing(program.folder) == before)
    let moved = try await program.run("remote", "set", second.url, "--token-file", token, "--new-remote")
    #expect(moved.status == 0 && moved.output.contains("everything is pending"), "\(moved)")
    let status = try #require(try await program.run("status", "--json").objects().first)
    #expect(status["pending_readings"] as? Int == 5)
    #expect(try StoreFile(program.store).integrity() == "ok")
  }

  @Test func remoteTestRefusesAKnownAddressWithAnotherLogbook() async throws {
    let (program, token) = try program()
    let server = try ScriptedServer { request in
      request.headers["user-agent"] == nil ? .status(500) : Self.logbook()
    }
    #expect(try await program.run("remote", "set", server.url, "--token-file", token).status == 0)
    try StoreFile(program.store).execute("UPDATE remote SET logbook = '\(Self.other)'")
    let test = try await program.run("remote", "test")
    #expect(test.status == 78 && test.errors.contains("another logbook"), "\(test)")
  }

  /// The server returns the token in every part of an answer that can be printed, and the token command
  /// prints the token.
  @Test func theRemoteTokenIsInNoOutputAndNoFile() async throws {
    let (program, token) = try program()
    let answers: [ScriptedAnswer] = [
      Self.logbook(), .status(200, Array("{\"logbook\":\"\(Self.secret)\"}".utf8)),
      .raw("\(Self.secret)\r\n\r\n"),
      .status(500, ErrorBody(.serverFailure, "no \(Self.secret)").json),
      .status(302, headers: ["Location: https://\(Self.secret)/\(Self.secret)"]),
      .status(401, ErrorBody(.login, Self.secret).json),
      .status(400, ErrorBody(.badRequest, Self.secret).json),
    ]
    var texts: [String] = []
    for answer in answers {
      let server = try ScriptedServer { _ in answer }
      for access in [["--token-file", token], ["--token-command", "cat '\(token)'"]] {
        for arguments in [["set", server.url] + access, ["show"], ["show", "--json"], ["test"]] {
          let outcome = try await program.run(arguments: ["remote"] + arguments)
          texts += [outcome.output, outcome.errors]
        }
      }
      #expect(server.requests.first?.headers["authorization"] == "Bearer \(Self.secret)")
    }
    #expect(texts.allSatisfy { !$0.contains(Self.secret) })
    let names = try FileManager.default.subpathsOfDirectory(atPath: program.folder.path)
    #expect(names.contains { $0.hasSuffix("logbook.db") })
    for name in names where name != "token" {
      var isFolder: ObjCBool = false
      let path = program.path(name)
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
        continue
      }
      #expect(try !Data(contentsOf: URL(filePath: path)).contains(Data(Self.secret.utf8)), "\(name)")
    }
  }
}

extension Data {
  fileprivate func contains(_ other: Data) -> Bool { range(of: other) != nil }
}
