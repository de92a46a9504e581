// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogbookStore
import Testing

@testable import Commands

/// Tests which files a backup in a folder counts as older backups.
@Suite struct BackupPlaceTests {
  /// Within one second, the name of a backup that was removed is free again.
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
    #expect(place.noted(notes) == [older])
  }
}
