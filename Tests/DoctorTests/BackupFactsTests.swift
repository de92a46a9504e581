// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

@testable import Doctor

/// Tests what a checkup reports about backups.
@Suite struct BackupFactsTests {
  private func findings(_ age: Int64?, path: String = "/home/anna/backup/a.db", isThere: Bool? = true)
    -> [Finding]
  {
    let note = age.map { BackupNote(madeAt: HealthyComputer.now - $0, path: path, size: 1, sha256: "") }
    return HealthyComputer.wrong {
      $0.backups = BackupFacts(last: note, isThere: isThere, now: HealthyComputer.now)
    }
  }

  @Test func aBackupOfTheLastThirtyDaysIsReportedAsGood() {
    #expect(findings(30 * 86_400) == [])
    #expect(findings(0, path: "", isThere: nil) == [])
  }

  @Test func anOldBackupIsReportedAsAWarning() {
    #expect(findings(30 * 86_400 + 1).map(\.state) == [.warn])
    #expect(findings(30 * 86_400 + 1).first?.fix == "glucoport backup '/home/anna/backup'")
  }

  /// A clock that was ahead at the backup must not make the backup look new until that time.
  @Test func aBackupInTheFutureIsReportedAsAWarning() {
    #expect(findings(-120) == [])
    for age in [-121, -400 * 86_400] as [Int64] {
      let found = findings(age)
      #expect(found.map(\.state) == [.warn], "\(age)")
      #expect(found.first?.detail.hasSuffix("which is in the future, so that its age is unknown") == true)
    }
  }

  @Test func aMissingBackupIsReportedAsANote() {
    #expect(findings(nil).map(\.state) == [.note])
    #expect(findings(60, isThere: false).map(\.state) == [.note])
  }

  @Test func anUnreadableListOfBackupsIsReportedAsAWarning() {
    let problem = Failure(.permission, "logbook.db-backups: cannot read the notes of backups")
    let found = HealthyComputer.wrong {
      $0.backups = BackupFacts(last: nil, isThere: nil, now: HealthyComputer.now, problem: problem)
    }
    #expect(found.map(\.state) == [.warn] && found.first?.detail == problem.message)
  }

  @Test func withoutAStoreBackupsAreNotReported() {
    #expect(HealthyComputer.wrong { $0.backups = nil } == [])
  }
}
