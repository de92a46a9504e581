// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

@testable import CommandParts

/// Tests the commands `record attach`, `record attachments` and `show --save` as a person or a script calls
/// them.
@Suite(.timeLimit(.minutes(10))) struct AttachmentCommandTests {
  private let program: Program
  private let id: String

  init() async throws {
    program = try Program()
    let added = try await program.run("record", "add", "note", "entry", "--json")
    id = try #require(try added.objects().first?["guid"] as? String)
  }

  private func attachments() async throws -> [[String: any Sendable]] {
    try await program.run("record", "attachments", id, "--json").objects()
  }

  static let contents: [(name: String, bytes: [UInt8], type: String)] = [
    ("empty", [], "application/octet-stream"), ("nul.bin", [0, 1, 0], "application/octet-stream"),
    ("latin.txt", [0x63, 0x61, 0x66, 0xE9, 0x0A], "text/plain"),
    ("odd", [0xC3, 0x28], "application/octet-stream"),
    ("notes", Array("caf\u{E9}\n".utf8), "text/plain"),
    ("report", Array("%PDF-1.7\0\u{FF}".utf8), "application/pdf"),
    ("table.csv", Array("a,b\n".utf8), "text/csv"),
    ("large", (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }, "application/octet-stream"),
  ]

  @Test func textAndBinaryAttachmentsAreSavedUnchanged() async throws {
    for content in Self.contents {
      let path = try program.write(content.bytes, to: content.name)
      #expect(try await program.run("record", "attach", id, path, "--quiet").status == 0)
    }
    let listed = try await attachments()
    #expect(listed.count == Self.contents.count)
    for content in Self.contents {
      let item = try #require(listed.first { $0["name"] as? String == content.name })
      #expect(item["type"] as? String == content.type, "\(content.name)")
      #expect(item["content"] as? String == "whole" && item["size"] as? Int == content.bytes.count)
      let target = program.path("saved-\(content.name)")
      let saved = try await program.run("show", item["guid"] as? String ?? "", "--save", target)
      #expect(saved.status == 0 && saved.output.isEmpty && saved.errors.isEmpty)
      #expect(FileManager.default.contents(atPath: target).map { Array($0) } == content.bytes)
      #expect(try mode(of: target) == 0o600)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: program.folder.path).allSatisfy {
        !$0.contains(".X")
      })
  }

  @Test func standardInputIsAttachedUnderTheGivenName() async throws {
    let bytes: [UInt8] = [0, 0xFF, 0x0A, 0x0D]
    let attached = try await program.run(
      arguments: ["record", "attach", id, "-", "--name", "../../x\u{1B}[31m"], input: bytes)
    #expect(attached.status == 0 && !attached.output.contains("\u{1B}"))
    let item = try #require(try await attachments().first)
    #expect(item["name"] as? String == "../../x\u{1B}[31m")
    let listed = try await program.run("record", "attachments", id)
    #expect(!listed.output.contains("\u{1B}") && listed.output.contains("whole"))
    let saved = try await program.shell("glucoport show \(item["guid"] as? String ?? "") --save - | cksum")
    let expected = try await program.shell("printf '\\000\\377\\n\\r' | cksum")
    #expect(saved.output == expected.output)
  }

  @Test func aFileThatCannotBeAttachedIsReportedAndNothingIsStored() async throws {
    let good = try program.write("good", to: "good")
    let large = try program.write([UInt8](repeating: 7, count: 1001), to: "large")
    try FileManager.default.createDirectory(
      atPath: program.path("folder"), withIntermediateDirectories: false)
    #expect(try await program.run("config", "attachment-limit", "1000").status == 0)
    for (path, status, words) in [
      (program.path("none"), 66, "No such file"), (large, 65, "config attachment-limit"),
      (program.path("folder"), 65, "folder"),
    ] {
      let outcome = try await program.run("record", "attach", id, good, path)
      #expect(outcome.status == Int32(status) && outcome.errors.contains(words), "\(outcome)")
    }
    let endless = try await program.shell("yes | glucoport record attach \(id) - --name endless")
    #expect(endless.status == 65)
    #expect(try await attachments().isEmpty)
    #expect(try StoreFile(program.store).count("blob") == 0)
    #expect(try await program.run("record", "attach", "00000000", good).status == 66)
    #expect(try await program.run("record", "attach", id, "-").status == 64)
    #expect(try await program.run("record", "attach", id, good, good, "--name", "x").status == 64)
  }

  @Test func anUnreadableFileIsReportedAsAPermissionError() async throws {
    let path = try program.write("secret", to: "secret")
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    #expect(try await program.runUnprivileged("record", "attach", id, path).status == 77)
  }

  @Test func aFileCannotBeAttachedToAnAttachmentOrADeletedEntry() async throws {
    let path = try program.write("text", to: "file")
    _ = try await program.run("record", "attach", id, path)
    let guid = try #require(try await attachments().first?["guid"] as? String)
    #expect(try await program.run("record", "attach", guid, path).status == 64)
    #expect(try await program.run("record", "delete", id).status == 0)
    #expect(try await attachments().isEmpty)
    #expect(try await program.run("record", "attach", id, path).status == 66)
  }

  @Test func savingAnAttachmentReplacesAFileOnlyWithForce() async throws {
    let path = try program.write("content", to: "file")
    _ = try await program.run("record", "attach", id, path)
    let guid = try #require(try await attachments().first?["guid"] as? String)
    let target = try program.write("mine", to: "target")
    let refused = try await program.run("show", guid, "--save", target)
    #expect(refused.status == 73 && refused.errors.contains("--force"))
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
    #expect(try await program.run("show", guid, "--save", target, "--force").status == 0)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "content")
    #expect(try mode(of: target) == 0o600)
    #expect(try await program.run("show", guid, "--save", program.path("no/where")).status == 73)
    #expect(try await program.run("show", id, "--save", target).status == 64, "a note has no content")
    #expect(try await program.run("show", guid, "--force").status == 64)
  }

  @Test func savingAnAttachmentWithoutLocalContentQueuesItsDownload() async throws {
    _ = try await program.run("record", "attach", id, try program.write("content", to: "file"))
    let exported = try await program.run("export", "--format", "ndjson")
    let other = ["--store", program.path("other.db")]
    let imported = try await program.run(
      arguments: ["import", "-"] + other, input: Array(exported.output.utf8))
    #expect(imported.status == 0, "\(imported)")
    let guid = try #require(try await attachments().first?["guid"] as? String)
    let waiting = try await program.run(arguments: ["show", guid, "--save", program.path("got")] + other)
    #expect(waiting.status == 75 && waiting.errors.contains("glucoport upload"), "\(waiting)")
    #expect(!FileManager.default.fileExists(atPath: program.path("got")))
    let listed = try await program.run(arguments: ["record", "attachments", guid] + other)
    #expect(listed.output.contains("not downloaded yet"))
    let store = try StoreFile(program.path("other.db"))
    #expect(try store.count("download WHERE kind = 'attachment' AND priority = 0") == 1)
    let status = try await program.run(arguments: ["status"] + other)
    #expect(status.output.contains("contents of attachments: 1 not downloaded yet"))
  }

  @Test func theMaximumAttachmentSizeIsSetWithUnits() async throws {
    #expect(try await program.run("config", "attachment-limit").output == "attachment-limit 25MiB\n")
    #expect(try await program.run("config", "attachment-limit", "1536KiB").status == 0)
    #expect(try await program.run("config").output.contains("attachment-limit 1536KiB\n"))
    #expect(try await program.run("config", "attachment-limit", "many").status == 64)
  }

  @Test func attachingAndSavingAFileNeverOpensASocket() async throws {
    let path = try program.write("content", to: "file")
    let script = """
      strace -f -e trace=socket,connect -o calls glucoport record attach \(id) \(path) --quiet &&
      strace -f -e trace=socket,connect -o more glucoport record attachments \(id) >/dev/null; cat calls more | grep -c 'socket('
      """
    try #require(try await program.shell("command -v strace").status == 0, "this test needs strace")
    #expect(try await program.shell(script).output == "0\n")
  }
}

@Suite struct ByteCountArgumentTests {
  @Test(arguments: [
    ("0", 0), ("17", 17), ("1KiB", 1024), ("25MiB", 25 << 20), ("2GiB", 2 << 30), ("5B", 5),
  ]) func aNumberOfBytesIsReadWithBinaryUnits(_ text: String, _ bytes: Int64) {
    #expect(ByteCountArgument(argument: text)?.bytes == bytes)
  }

  @Test(arguments: ["", "MiB", "-1", "1.5MiB", "1 MiB", "1MB", "1mib", "9999999999", "1KiBKiB", "１MiB"])
  func anInvalidNumberOfBytesIsRefused(_ text: String) { #expect(ByteCountArgument(argument: text) == nil) }

  @Test func aNumberOfBytesIsWrittenInItsLargestUnit() {
    #expect(ByteCountArgument.text(25 << 20) == "25MiB" && ByteCountArgument.text(1537 << 10) == "1537KiB")
    #expect(ByteCountArgument.text(0) == "0B" && ByteCountArgument.text(1001) == "1001B")
    #expect(ByteCountArgument.rounded(0) == "0 B" && ByteCountArgument.rounded(1023) == "1023 B")
    #expect(ByteCountArgument.rounded(1536) == "1.5 KiB" && ByteCountArgument.rounded(25 << 20) == "25.0 MiB")
  }
}
