// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import SeededRandom
import TestArchives
import Testing

@Suite struct ZipArchiveTests {
  private static let text = String(repeating: "2026-03-11 08:10,142\n", count: 300)

  private func refusal(_ bytes: [UInt8]) -> String? {
    #expect(throws: Failure.self) { _ = try ArchiveFile(bytes) }?.message
  }

  private func memberRefusal(_ change: (inout ZipWriter.Entry) -> Void) throws -> String? {
    var entry = ZipWriter.Entry(name: "a.csv", bytes: Array(Self.text.utf8))
    change(&entry)
    let file = try ArchiveFile(ZipWriter(entries: [entry]).bytes())
    return try #require(file.archive.members.first).refusal
  }

  @Test(arguments: [true, false]) func aMemberOfAZipArchiveIsUnpacked(_ isDeflated: Bool) throws {
    var writer = ZipWriter()
    writer.entries = [
      ZipWriter.Entry(name: "b.csv", bytes: Array(Self.text.utf8), isDeflated: isDeflated),
      ZipWriter.Entry(name: "folder/", bytes: [], isDeflated: false),
      ZipWriter.Entry(name: "folder/empty.csv", bytes: [], isDeflated: isDeflated),
    ]
    let file = try ArchiveFile(writer.bytes())
    #expect(file.archive.members.map(\.name) == ["b.csv", "folder/empty.csv"])
    #expect(file.archive.members.map(\.refusal) == [nil, nil])
    #expect(try file.bytes(file.archive.members[0]) == Array(Self.text.utf8))
    #expect(try file.bytes(file.archive.members[1]) == [])
  }

  @Test func aMemberOfAZipArchiveIsReadAgainFromItsStart() throws {
    let file = try ArchiveFile(ZipWriter.archive([("a.csv", Self.text)]))
    let source = try file.source(file.archive.members[0])
    for chunk in [1, 4096] {
      #expect(try source.allBytes(chunk: chunk) == Array(Self.text.utf8))
      try source.rewind()
    }
  }

  @Test func largeSizesInZip64AreRead() throws {
    var writer = ZipWriter()
    writer.entries = [ZipWriter.Entry(name: "a.csv", bytes: Array(Self.text.utf8), isZip64: true)]
    writer.isZip64 = true
    let file = try ArchiveFile(writer.bytes())
    #expect(try file.bytes(file.archive.members[0]) == Array(Self.text.utf8))
  }

  @Test func bytesBeforeAZipArchiveAndACommentAfterItAreIgnored() throws {
    var writer = ZipWriter()
    writer.entries = [ZipWriter.Entry(name: "a.csv", bytes: Array(Self.text.utf8))]
    writer.prefix = Array("#!/bin/sh\n".utf8)
    writer.comment = "PK\u{5}\u{6} is no end of it"
    let file = try ArchiveFile(writer.bytes())
    #expect(try file.bytes(file.archive.members[0]) == Array(Self.text.utf8))
  }

  // MARK: Refused archives

  @Test func anEncryptedZipMemberIsRefusedAsEncrypted() throws {
    #expect(try memberRefusal { $0.flags = 1 }?.contains("encrypted") == true)
  }

  @Test(arguments: ["../a.csv", "x/../../a.csv", "/etc/passwd", "..\\a.csv", "a\0b"])
  func aZipMemberNameThatLeadsOutOfTheArchiveIsRefused(_ name: String) throws {
    #expect(try memberRefusal { $0.name = name } == "its name leads out of the archive")
    #expect(try memberRefusal { $0.name = "..a/b..csv" } == nil)
  }

  @Test func aZipMemberThatIsASymbolicLinkIsRefused() throws {
    #expect(try memberRefusal { $0.mode = 0o120777 } == "it is a link")
  }

  @Test func anUnsupportedZipCompressionMethodIsNamed() throws {
    #expect(try memberRefusal { $0.method = 12 }?.contains("not supported") == true)
  }

  @Test func aZipMemberThatUnpacksToFarTooMuchIsRefused() throws {
    let refusal = try memberRefusal { $0.bytes = [UInt8](repeating: 0, count: 32 << 20) }
    #expect(refusal?.contains("250 times") == true)
    // Small members are harmless at any ratio.
    #expect(try memberRefusal { $0.bytes = [UInt8](repeating: 0, count: 8 << 20) } == nil)
  }

  @Test func zipMembersThatShareBytesAreRefused() throws {
    var writer = ZipWriter()
    writer.entries = [
      ZipWriter.Entry(name: "a.csv", bytes: Array(Self.text.utf8)),
      ZipWriter.Entry(name: "b.csv", bytes: Array(Self.text.utf8), statedOffset: 0),
    ]
    #expect(refusal(try writer.bytes())?.contains("overlap") == true)
  }

  /// A ZIP64 archive whose locator states the position that `change` returns for the directory's record.
  private func archive(withRecordAt change: (_ count: Int, _ place: UInt64) -> UInt64) throws -> [UInt8] {
    var writer = ZipWriter(entries: [
      ZipWriter.Entry(name: "a.csv", bytes: Array(Self.text.utf8), isZip64: true)
    ])
    writer.isZip64 = true
    var bytes = try writer.bytes()
    let locator = try #require(bytes.firstRange(of: [0x50, 0x4B, 6, 7])).lowerBound
    let stated = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[locator + 8 + $1]) << UInt64(8 * $1) }
    let place = change(bytes.count, stated)
    for index in 0..<8 { bytes[locator + 8 + index] = UInt8(truncatingIfNeeded: place >> UInt64(8 * index)) }
    return bytes
  }

  @Test func aZip64DirectoryAtAnotherPositionThanStatedIsReportedAsDamaged() throws {
    #expect(try ArchiveFile(archive { $1 }).archive.members.map(\.name) == ["a.csv"])
    for place: (Int, UInt64) -> UInt64 in [
      { _, _ in 0 }, { $1 + 1 }, { count, _ in UInt64(count - 10) }, { count, _ in UInt64(count) },
      { _, _ in .max },
    ] {
      #expect(refusal(try archive(withRecordAt: place))?.contains("damaged or incomplete") == true)
    }
  }

  @Test func aZipMemberWithoutItsHeaderIsReportedAsDamaged() throws {
    for (place, value) in [(0, UInt8(0)), (27, 0xFF), (29, 0xFF)] {
      var bytes = try ZipWriter.archive([("a.csv", Self.text)])
      bytes[place] = value
      if place == 0 { bytes = Array("PK\u{3}\u{4}".utf8) + bytes }
      let file = try ArchiveFile(bytes)
      let failure = #expect(throws: Failure.self) { try file.bytes(file.archive.members[0]) }
      #expect(failure?.message == "archive.zip:a.csv: the member is damaged; download the archive again")
    }
  }

  @Test func anUncompressedZipMemberWithTwoDifferentSizesIsRefused() throws {
    #expect(
      try memberRefusal { entry in (entry.isDeflated, entry.statedSize) = (false, entry.bytes.count + 1) }
        == "its sizes contradict each other")
    #expect(try memberRefusal { $0.isDeflated = false } == nil)
  }

  @Test func aZipArchiveThatUnpacksToTerabytesIsRefused() throws {
    var writer = ZipWriter()
    writer.entries = (0..<40).map {
      ZipWriter.Entry(name: "\($0).csv", bytes: [1], statedSize: 2 << 30, isZip64: true)
    }
    #expect(refusal(try writer.bytes())?.contains("64 GiB") == true)
  }

  @Test func aZipArchiveWithTooManyMembersIsRefused() throws {
    var writer = ZipWriter()
    writer.entries = (0...ZipArchive.maxMembers).map {
      ZipWriter.Entry(name: "\($0)", bytes: [], isDeflated: false)
    }
    #expect(refusal(try writer.bytes())?.contains("more than 20000 members") == true)
  }

  @Test(arguments: [-1, 1]) func aZipMemberOfAnotherSizeThanStatedIsReportedAsDamaged(_ difference: Int)
    throws
  {
    let bytes = Array(Self.text.utf8)
    let entry = ZipWriter.Entry(name: "a.csv", bytes: bytes, statedSize: bytes.count + difference)
    let file = try ArchiveFile(ZipWriter(entries: [entry]).bytes())
    #expect(throws: Failure.self) { try file.bytes(file.archive.members[0]) }
  }

  @Test func aZipMemberWithAWrongChecksumIsReportedAsDamaged() throws {
    let entry = ZipWriter.Entry(name: "a.csv", bytes: Array(Self.text.utf8), statedChecksum: 1)
    let file = try ArchiveFile(ZipWriter(entries: [entry]).bytes())
    let failure = #expect(throws: Failure.self) { try file.bytes(file.archive.members[0]) }
    #expect(failure?.message == "archive.zip:a.csv: the member is damaged; download the archive again")
  }

  @Test func aZipArchiveTruncatedAnywhereIsRefused() throws {
    let whole = try ZipWriter.archive([("a.csv", Self.text), ("b.csv", "1,2\n")])
    for length in stride(from: 0, to: whole.count, by: 3) {
      #expect(refusal(Array(whole.prefix(length))) != nil, "cut to \(length) bytes")
    }
  }

  @Test func aDamagedZipArchiveNeverCrashesOrReturnsWrongBytes() throws {
    let whole = try ZipWriter.archive([("a.csv", Self.text), ("folder/b.csv", "1,2\n")])
    for seed in 1...1500 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      do {
        let file = try ArchiveFile(bytes)
        for member in file.archive.members where member.refusal == nil {
          let text = try file.bytes(member)
          #expect(
            text == Array(Self.text.utf8) || text == Array("1,2\n".utf8) || text.isEmpty, "seed \(seed)")
        }
      } catch let failure as Failure {
        #expect(failure.category == .badInput, "seed \(seed): \(failure.message)")
      }
    }
  }
}
