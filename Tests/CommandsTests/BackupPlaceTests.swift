// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogbookStore
import Testing

@testable import Commands

/// Tests which files `BackupPlace` counts as older backups of a store.
@Suite struct BackupPlaceTests {
  /// The name of a backup has its time in seconds. If an earlier backup of the same second was removed, its
  /// `BackupNote` has the path of the backup just written.
  @Test func theBackupJustWrittenIsNotListedAsAnOlderBackup() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let place = BackupPlace(target: folder, store: "/store/logbook.db", now: 0)
    let older = folder + "/logbook-1970-01-01T000000Z-2.db"
    for path in [place.file, older] { try Data().write(to: URL(fileURLWithPath: path)) }
    let notes = [place.file, older, place.file].map {
      BackupNote(madeAt: 0, path: $0, size: 0, sha256: "")
    }
    #expect(place.earlierBackups(notes) == [older])
  }
}
