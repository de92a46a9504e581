// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import Doctor

/// Tests the folder of a store, on a real disk if possible, otherwise with constructed answers of the system.
@Suite struct FolderTests {
  private func set(_ mode: Int, _ url: URL) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
  }

  /// The findings for a folder with a store, after a change.
  private func found(_ change: (URL) throws -> Void) throws -> [Finding] {
    var found: [Finding] = []
    try withFolder { folder in
      let store = folder.appending(path: "logbook.db")
      try Data(count: 100).write(to: store)
      try set(0o600, store)
      try change(folder)
      var facts = FolderFacts.of(store.path, user: UInt32(geteuid()))
      // The test machine can have any file system, so its file system is replaced by a good one.
      facts.fileSystem = HealthyComputer.folders.fileSystem
      found = facts.findings.filter { $0.state != .ok } + facts.leftovers.filter { $0.state != .ok }
    }
    return found
  }

  @Test func aPrivateStoreFolderIsReportedAsGood() throws { #expect(try found { _ in } == []) }

  @Test(arguments: [
    (0o755, Finding.State.warn), (0o750, .warn), (0o770, .fail), (0o777, .fail),
  ])
  func aStoreFolderThatOtherUsersMayUseIsReported(_ mode: Int, _ state: Finding.State) throws {
    let found = try found { try set(mode, $0) }
    #expect(found.map(\.state) == [state])
    #expect(found.first?.fix?.hasPrefix("chmod 700 '") == true)
  }

  @Test(arguments: [(0o644, Finding.State.warn), (0o666, .fail)])
  func aStoreFileThatOtherUsersMayUseIsReported(_ mode: Int, _ state: Finding.State) throws {
    for name in ["logbook.db", "logbook.db-wal"] {
      let found = try found { folder in
        let file = folder.appending(path: name)
        try Data(count: 1).write(to: file)
        try set(mode, file)
      }
      #expect(found.map(\.state) == [state])
      #expect(found.first?.fix?.hasPrefix("chmod 600 '") == true)
    }
  }

  @Test func noChangeIsSuggestedForAFolderSharedByAllUsers() throws {
    let own = try found { try set(0o1777, $0) }
    #expect(own.map(\.state) == [.warn] && own.first?.fix == nil)
    let system = HealthyComputer.wrong {
      $0.folders?.folder?.owner = 0
      $0.folders?.folder?.mode = 0o1777
    }
    #expect(system.map(\.state) == [.warn] && system.first?.fix == nil)
  }

  @Test func rootIsAdvisedToRunDoctorAsTheOwnerOfTheFiles() {
    let found = HealthyComputer.wrong { $0.folders?.user = 0 }
    #expect(found.count == 4 && found.allSatisfy { $0.state == .note })
    #expect(
      found.allSatisfy { $0.fix == "sudo -u '#1000' glucoport doctor --store '\(HealthyComputer.store)'" })
  }

  @Test func aStoreFolderOfAnotherUserIsReported() {
    let found = HealthyComputer.wrong { $0.folders?.folder?.owner = 1001 }
    #expect(found.map(\.category) == [.permission] && found.first?.fix == nil)
  }

  @Test func aStoreFileOfAnotherUserIsReported() {
    let found = HealthyComputer.wrong { $0.folders?.files[0].owner = 0 }
    #expect(found.map(\.category) == [.permission])
    #expect(found.first?.fix == "sudo chown 1000 '\(HealthyComputer.store)'")
  }

  @Test func aStoreThatIsASymbolicLinkIsReportedAndItsTargetChecked() throws {
    let found = try found { folder in
      let (store, target) = (folder.appending(path: "logbook.db"), folder.appending(path: "elsewhere"))
      try FileManager.default.moveItem(at: store, to: target)
      try set(0o644, target)
      try FileManager.default.createSymbolicLink(at: store, withDestinationURL: target)
    }
    #expect(found.map(\.state) == [.note, .warn])
  }

  @Test(arguments: [".stfolder", ".dropbox", "._sync_journal.db"])
  func aStoreFolderThatASyncProgramCopiesIsReported(_ marker: String) throws {
    var markers: [String?] = []
    try withFolder { folder in
      let inner = folder.appending(path: "a/b")
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
      try Data().write(to: folder.appending(path: marker))
      markers.append(FolderFacts.of(inner.path + "/logbook.db", user: 0).syncMarker)
      #expect(markers == [folder.path + "/" + marker])
    }
    #expect(HealthyComputer.wrong { $0.folders?.syncMarker = "/home/anna/" + marker }.map(\.state) == [.warn])
  }

  @Test func onlyLeftoverFilesOfTheProgramAreListedAsLeftovers() throws {
    let found = try found { folder in
      for name in ["a.rejects", "b.part", "logbook.db.before-7", "logbook.db-upload", "note.txt"] {
        try Data().write(to: folder.appending(path: name))
        try set(0o600, folder.appending(path: name))
      }
    }
    #expect(found.map(\.area) == [.leftovers] && found.map(\.state) == [.note])
    #expect(found.first?.detail.hasSuffix(": a.rejects, b.part, logbook.db.before-7") == true)
  }

  @Test func aMissingStoreFolderIsNotReportedAsAFault() {
    let found = HealthyComputer.wrong {
      $0.folders?.folder = nil
      $0.folders?.files = []
    }
    #expect(found == [])
  }

  @Test(arguments: [
    (UInt32(0x6969), FileSystemFact.FileSystemKind.network("NFS")), (0xFF53_4D42, .network("CIFS")),
    (0xFE53_4D42, .network("SMB")), (0x6573_5546, .userSpace), (0xEF53, .local), (0x9123_683E, .local),
  ])
  func theKindOfFileSystemIsRecognisedByItsMagicNumber(_ magic: UInt32, _ kind: FileSystemFact.FileSystemKind)
  {
    #expect(FileSystemFact.kind(ofMagic: magic) == kind)
  }

  @Test func aStoreOnNFSIsReportedAsAFailure() {
    let found = HealthyComputer.wrong { $0.folders?.fileSystem?.kind = FileSystemFact.kind(ofMagic: 0x6969) }
    #expect(found.map(\.category) == [.configuration])
    #expect(HealthyComputer.wrong { $0.folders?.fileSystem?.kind = .userSpace }.map(\.state) == [.warn])
  }

  @Test(arguments: [
    (Int64(0), Finding.State.fail), (1_048_575, .fail), (1_048_576, .warn), (16_777_215, .warn),
    (16_777_216, .ok),
  ])
  func aFullDiskIsReported(_ free: Int64, _ state: Finding.State) {
    let found = HealthyComputer.wrong { $0.folders?.fileSystem?.freeBytes = free }
    #expect(found.map(\.state) == (state == .ok ? [] : [state]))
    #expect(found.first?.category == (state == .fail ? .inputOutput : nil))
  }

  @Test func freeSpaceBelowTwiceTheSizeOfTheStoreIsReported() {
    let size = 100 << 20 as Int64
    for (free, count) in [(2 * size - 1, 1), (2 * size, 0)] {
      let found = HealthyComputer.wrong {
        $0.folders?.files[0].size = size
        $0.folders?.fileSystem?.freeBytes = free
      }
      #expect(found.count == count)
    }
  }

  @Test func aReadOnlyDiskIsReportedAsAFailure() {
    #expect(
      HealthyComputer.wrong { $0.folders?.fileSystem?.isReadOnly = true }.map(\.category) == [.permission])
  }

  @Test func theFileSystemAndFreeSpaceOfAFolderAreReadFromTheSystem() throws {
    try withFolder { folder in
      #expect(FileSystemFact.of(folder.path) != nil && FileSystemFact.of(folder.path + "/none") == nil)
    }
    // The kernel's own files in `/proc` are on no disk, so no space is free there.
    #expect(FileSystemFact.of("/proc")?.freeBytes == 0)
  }
}
