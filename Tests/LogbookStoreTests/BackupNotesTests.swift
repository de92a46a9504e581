// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import LogbookStore

/// Tests the file next to a store that lists where its backups were written.
@Suite struct BackupNotesTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private var notes: BackupNotes { BackupNotes(storePath: scratch.path) }
  private var file: String { scratch.path + "-backups" }

  private func note(_ number: Int64, path: String = "/a \"b\"\n.db") -> BackupNote {
    BackupNote(madeAt: number, path: path, size: number * 10, sha256: "abc")
  }

  @Test func notesOfBackupsAreReadInOrder() throws {
    #expect(try notes.notes() == [])
    for number in 1...3 { try notes.add(note(Int64(number))) }
    #expect(try notes.notes() == [note(1), note(2), note(3)])
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  /// A process that is killed while it writes a note may leave an incomplete line.
  @Test func aTruncatedNoteOfABackupIsIgnored() throws {
    try notes.add(note(1))
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(#"{"made_at":2,"pa"#.utf8))
    try handle.close()
    try notes.add(note(3))
    #expect(try notes.notes() == [note(1), note(3)])
  }

  @Test func invalidNotesOfBackupsAreIgnored() throws {
    let lines = [
      "{}", "[]", "x", #"{"made_at":"y"}"#, #"{"made_at":7,"path":"","size":0,"sha256":"","more":[1]}"#,
    ]
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
    #expect(try notes.notes() == [BackupNote(madeAt: 7, path: "", size: 0, sha256: "")])
  }

  @Test func aLongFileOfBackupNotesIsShortenedToTheLastNotes() throws {
    let long = String(repeating: "x", count: 3000)
    for number in 1...200 { try notes.add(note(Int64(number), path: long)) }
    let found = try notes.notes()
    #expect(found.count <= BackupNotes.maxNotes && found.last?.madeAt == 200)
    let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
    #expect(try #require(size) < 600_000)
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.madeAt + 1 == $1.madeAt })
  }

  @Test func theNoteOfABackupIsFoundByTheBytesOfACopy() throws {
    let copy = scratch.folder.appending(path: "copy").path
    try Data("the bytes of a backup".utf8).write(to: URL(filePath: copy))
    #expect(try notes.backupNote(ofBytesAt: copy) == nil)
    var digest = Digest()
    digest.update("the bytes of a backup")
    let sha256 = digest.hexadecimal()
    let made = BackupNote(madeAt: 1, path: "/gone.db", size: 21, sha256: sha256)
    try notes.add(made)
    try notes.add(BackupNote(madeAt: 2, path: "/other.db", size: 21, sha256: "abc"))
    #expect(try notes.backupNote(ofBytesAt: copy) == made)
    try Data("the bytes of a backuq".utf8).write(to: URL(filePath: copy))
    #expect(try notes.backupNote(ofBytesAt: copy) == nil)
    #expect(throws: Failure.self) { try notes.backupNote(ofBytesAt: copy + ".none") }
  }

  @Test func aSymbolicLinkInsteadOfTheBackupNotesIsNotFollowed() throws {
    let other = scratch.folder.appending(path: "other").path
    try Data("text".utf8).write(to: URL(filePath: other))
    symlink(other, file)
    #expect(throws: Failure.self) { try notes.notes() }
    #expect(throws: Failure.self) { try notes.add(note(1)) }
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "text")
  }
}

/// Tests files that are overwritten before they are removed.
@Suite struct ErasedFileTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func file(_ text: String) throws -> String {
    let path = scratch.folder.appending(path: "file").path
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  /// The file has a second hard link. After the removal, the test reads the overwritten bytes by this link.
  @Test func theBytesOfAnErasedFileAreOverwritten() throws {
    let path = try file("secret")
    let other = scratch.folder.appending(path: "other").path
    #expect(link(path, other) == 0)
    #expect(try ErasedFile(path).remove(ifSHA256: nil) == .removed)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try Data(contentsOf: URL(filePath: other)) == Data(count: 6))
  }

  @Test func aFileWithOtherContentThanExpectedIsNotErased() throws {
    let path = try file("secret")
    var digest = Digest()
    digest.update("secret")
    #expect(try ErasedFile(path).remove(ifSHA256: "00") == .other)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "secret")
    #expect(try ErasedFile(path).remove(ifSHA256: digest.hexadecimal()) == .removed)
    #expect(try ErasedFile(path).remove(ifSHA256: nil) == .absent)
    #expect(try ErasedFile(scratch.folder.path).remove(ifSHA256: nil) == .other)
  }

  /// The file to which a link points may belong to another person, so it must not be overwritten.
  @Test func aLinkOrPipeInsteadOfAFileToEraseIsNotRemoved() throws {
    let path = try file("secret")
    let link = scratch.folder.appending(path: "link").path
    #expect(symlink(path, link) == 0)
    let pipe = scratch.folder.appending(path: "pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    for other in [link, pipe] { #expect(try ErasedFile(other).remove(ifSHA256: nil) == .other) }
    #expect(try ErasedFile(path + "/below").remove(ifSHA256: nil) == .absent)
    #expect(try String(contentsOfFile: link, encoding: .utf8) == "secret")
    let failure = #expect(throws: Failure.self) { try ErasedFile(link).overwrite() }
    #expect(failure?.message.hasPrefix("\(link): cannot be overwritten: ") == true)
    try ErasedFile(path + "-none").overwrite()
    try ErasedFile(path).overwrite()
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(count: 6))
  }

  /// A file is renamed before it is overwritten. If the process is killed meanwhile, the next erasure removes
  /// the renamed file, and keeps a file whose content is not the expected one.
  @Test func anInterruptedErasureOfAFileIsContinued() throws {
    let path = try file("secret")
    #expect(rename(path, path + ".glucoport-erase") == 0)
    #expect(try ErasedFile(path).remove(ifSHA256: "00") == .removed)
    let other = try file("other")
    try Data("secret".utf8).write(to: URL(filePath: path + ".glucoport-erase"))
    #expect(try ErasedFile(path).remove(ifSHA256: "00") == .other)
    #expect(!FileManager.default.fileExists(atPath: path + ".glucoport-erase"))
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
  }

  /// The notes list where the backups are. So they are kept until the backups are removed, too.
  @Test func aRemovedStoreLeavesOnlyTheNotesOfItsBackups() throws {
    try scratch.ingest(Make.batch([Make.reading(.smbg, Make.milligrams(110))]))
    for suffix in [".before-restore", "-backups"] {
      try Data("secret".utf8).write(to: URL(filePath: scratch.path + suffix))
    }
    try scratch.open(.sync).remove(overwriting: true)
    let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
    #expect(left == ["logbook.db-backups"])
    try BackupNotes(storePath: scratch.path).remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == [])
  }
}
