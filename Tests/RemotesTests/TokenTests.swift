// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import Testing

@testable import Remotes

@Suite(.timeLimit(.minutes(10)))
struct TokenTests {
  @Test(arguments: ["abc", "abc\n", "  abc \t\nsecond line\n", "abc\r\n"])
  func theTokenIsTheFirstLineOfItsFile(_ content: String) async throws {
    try await withFile(content) { path in
      let token = try await TokenSource.file(path).token()
      #expect(token.text == "abc")
    }
  }

  /// With more bits, a person who reads the fingerprint could guess a token that another person chose.
  @Test func aTokenFingerprintDistinguishesTokensAndHas16Bits() throws {
    func mark(_ text: String, salt: String = "node") throws -> String {
      try Token(firstLineOf: Array(text.utf8), origin: "a test").mark(salt: salt)
    }
    #expect(try mark("abc") == mark("abc\n"))
    #expect(try mark("abc") != mark("abd"))
    #expect(try mark("abc") != mark("abc", salt: "other"))
    #expect(try mark("abc").wholeMatch(of: /[0-9a-f]{4}/) != nil)
  }

  @Test(arguments: ["", "\nabc", "  \n", "a b", "secrét", "a\u{1}b", String(repeating: "a", count: 4097)])
  func anInvalidTokenIsRefusedWithoutQuotingIt(_ content: String) async throws {
    try await withFile(content) { path in
      let failure = await failure(.file(path))
      #expect(failure?.category == .configuration)
      #expect(failure?.message.hasPrefix(path) == true)
      #expect(failure?.message.contains("secr") == false)
    }
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o610, 0o602])
  func aTokenFileOpenToOthersIsRefusedWithTheCommandToFixIt(_ mode: Int) async throws {
    try await withFile("abc", mode: mode) { path in
      let failure = await failure(.file(path))
      #expect(failure?.category == .permission)
      #expect(failure?.message.contains("chmod 600 '\(path)'") == true)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
  func aTokenFileOfAnotherUserIsRefused() async throws {
    try await withFile("abc") { path in
      #expect(chown(path, 12345, 12345) == 0)
      #expect(await failure(.file(path))?.category == .permission)
    }
  }

  @Test func onlyARegularFileIsAcceptedAsATokenFile() async throws {
    try await withFile("abc") { path in
      #expect(mkfifo(path + ".pipe", 0o600) == 0)
      defer { unlink(path + ".pipe") }
      #expect(await failure(.file(path + ".pipe"))?.category == .configuration)
      #expect(await failure(.file((path as NSString).deletingLastPathComponent))?.category == .configuration)
      #expect(await failure(.file(path + ".none"))?.category == .missingInput)
    }
  }

  @Test func aTokenFileThatIsTooLargeIsRefused() async throws {
    try await withFile("abc\n" + String(repeating: "x", count: TokenSource.maxBytes)) { path in
      #expect(await failure(.file(path))?.category == .configuration)
    }
  }

  @Test func theTokenIsTheFirstLineThatItsCommandPrints() async throws {
    #expect(try await TokenSource.command("printf 'a%s\\nmore' bc").token().text == "abc")
    #expect(try await TokenSource.command("cat; echo abc").token().text == "abc", "its input is empty")
    #expect(
      try await TokenSource.command("yes abc | head -c 9").token().text == "abc", "signals are the default")
  }

  @Test(arguments: [
    ("exit 3", FailureCategory.permission), ("echo secret; exit 1", .permission), ("kill -9 $$", .permission),
    ("/no/such/program-of-glucoport 2>&-", .permission), ("true", .configuration),
    ("yes secret", .configuration), ("echo secret secret", .configuration),
  ])
  func aTokenCommandWithoutATokenIsReportedWithoutItsOutput(_ command: String, _ category: FailureCategory)
    async
  {
    let failure = await failure(.command(command))
    #expect(failure?.category == category)
    #expect(failure?.message.contains("secret") == false)
    if command == "exit 3" { #expect(failure?.message.contains("status 3") == true) }
  }

  @Test(arguments: [
    "sleep 60", "exec >&-; sleep 60", "echo abc; sleep 60", "while :; do echo; done | sleep 60",
  ])
  func aTokenCommandThatTakesTooLongIsEnded(_ command: String) async {
    let start = ContinuousClock.now
    let failure = await #expect(throws: Failure.self) {
      try await TokenSource.command("exec 2>&-;" + command).token(within: .milliseconds(200))
    }
    #expect(failure?.category == .temporary)
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func aTokenIsHiddenInEveryDebugDescription() throws {
    let token = try Login.token()
    let login = try Login.to("https://host.example")
    var dumped = ""
    dump(login, to: &dumped)
    let texts = ["\(token)", String(reflecting: token), String(describing: login), "\([token])", dumped]
    for text in texts { #expect(!text.contains(Login.secret)) }
  }

  private func failure(_ source: TokenSource) async -> Failure? {
    await #expect(throws: Failure.self) { try await source.token() }
  }

  private func withFile(
    _ content: String, mode: Int = 0o600, _ body: (String) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "glucoport-token-\(UUID().uuidString)")
      .path
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
    #expect(
      FileManager.default.createFile(atPath: path, contents: Data(content.utf8), attributes: attributes))
    #expect(chmod(path, mode_t(mode)) == 0)
    defer { unlink(path) }
    try await body(path)
  }
}
