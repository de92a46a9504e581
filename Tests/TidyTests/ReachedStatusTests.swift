// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Checks that for each exit status there is a test in which a command ends with it.
@Suite struct ReachedStatusTests {
  /// A test by its file in `Tests` and its name.
  private struct Reach {
    let file: String
    let test: String

    init(_ file: String, _ test: String) { (self.file, self.test) = (file + ".swift", test) }
  }

  private static let reached: [Int: Reach] = [
    0: Reach("ProgramTests/BackupTests", "aBackupToStandardOutputHasTheBytesOfTheBackupFile"),
    1: Reach("ProgramTests/StatusFormatTests", "aMonitoringPluginPrintsOneLineWithItsNumbers"),
    2: Reach("ProgramTests/StatusFormatTests", "anOverdueUploadIsCriticalForAMonitoringPlugin"),
    3: Reach("ProgramTests/AddTests", "eachLineOfAddHasItsOwnResultAndTheWorstStatusIsReturned"),
    4: Reach("ProgramRemoteTests/ConflictTests", "conflictsAndRefusalsAreReportedSeparatelyFromPendingItems"),
    64: Reach("ProgramTests/PersonTests", "withSeveralPersonsACommandNeedsThePersonOption"),
    65: Reach(
      "ProgramTests/GenericImportTests", "aTableWithoutAGlucoseColumnEndsWithStatus65AndCreatesNothing"),
    66: Reach("ProgramTests/PersonTests", "withSeveralPersonsACommandNeedsThePersonOption"),
    69: Reach("ProgramRemoteTests/RemoteTests", "settingARemoteThatDoesNotRunEndsWithStatus69"),
    // Status 70 means a bug, to which no known input leads, so the test invents its error.
    70: Reach("CommandsTests/ArgumentRuleTests", "anErrorOfAnUnknownTypeIsReportedAsABug"),
    73: Reach("ProgramTests/StoreRefusalTests", "aFolderThatCannotBeCreatedIsReportedWithTheReason"),
    74: Reach("ProgramTests/PipelineTests", "writingToAFullOrClosedStandardOutputIsAnError"),
    75: Reach("ProgramRemoteTests/BusyStoreTests", "commandsThatCannotWriteInTimeEndWithATemporaryFailure"),
    76: Reach("ProgramRemoteTests/FetchTests", "redirectionsOfASourceAreFollowedOnOneServerOnly"),
    77: Reach("CommandsTests/AttachmentCommandTests", "anUnreadableFileIsReportedAsAPermissionError"),
    78: Reach(
      "ProgramRemoteTests/RemoteTests", "changingToAnotherLogbookNeedsAnOptionAndQueuesEverythingAgain"),
    130: Reach("ProgramTests/InterruptTests", "anInterruptedImportOfALivePipeReportsTheStoredReadings"),
    143: Reach("ProgramTests/InterruptTests", "anInterruptedImportOfALivePipeReportsTheStoredReadings"),
    152: Reach("ProgramTests/InterruptTests", "aProcessorTimeLimitEndsAnImportWithItsReportAndStatus"),
  ]

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: SourceFile.root.appending(path: path), encoding: .utf8)
  }

  @Test func eachExitStatusHasATestThatReachesIt() throws {
    let statuses = try Self.text("Sources/CommandParts/ExitStatus.swift").matches(of: /case \w+ = (\d+)/)
    #expect(Self.reached.keys.sorted() == statuses.compactMap { Int($0.1) }.sorted())
  }

  @Test(arguments: reached.keys.sorted()) func eachTestOfAnExitStatusMentionsTheStatus(_ status: Int) throws {
    let reach = try #require(Self.reached[status])
    let text = try Self.text("Tests/\(reach.file)")
    let test = try Regex("@Test[^}]*?func \(reach.test)\\(.*?\\n  }\\n").dotMatchesNewlines()
    let body = try #require(text.firstMatch(of: test), "\(reach.file): \(reach.test)")
    let named = try Regex("\\b\(status)\\b")
    #expect(text[body.range].contains(named), "\(reach.file): \(reach.test) does not name \(status)")
  }
}
