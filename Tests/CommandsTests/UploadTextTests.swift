// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout
import Sync
import TestProgram
import Testing

@testable import CommandParts
@testable import Commands

@Suite struct UploadTextTests {
  @Test func failedUploadsAndDownloadsAreReportedSeparately() {
    var summary = UploadSummary()
    #expect(UploadText.advice(summary).isEmpty)
    (summary.refused, summary.refusedDownloads) = (3, 3)
    let fetched = UploadText.advice(summary)
    #expect(fetched.count == 1 && fetched[0].hasPrefix("3 downloads could not be stored"), "\(fetched)")
    summary.refused = 5
    let both = UploadText.advice(summary)
    #expect(both.count == 2 && both[0].hasPrefix("2 items are refused by the remote"), "\(both)")
    summary.refusedDownloads = 0
    let sent = UploadText.advice(summary)
    #expect(sent.count == 1 && sent[0].hasPrefix("5 items are refused by the remote"), "\(sent)")
  }

  /// If this caused advice, a scheduled job would send a mail after each upload with attachments.
  @Test func attachmentsThatTheRemoteCannotStoreCauseNoAdvice() {
    var summary = UploadSummary()
    summary.keptAttachments = 1
    #expect(UploadText.advice(summary).isEmpty)
    #expect(
      UploadText.remarks(.complete, summary)
        == ["1 attachment is kept locally; this remote stores no files"])
  }

  /// A scheduled job prints this advice, too, since the totals on the site are wrong until a person acts.
  @Test func onlyRejectedDosesThatStillCountOnTheSiteCauseAdvice() {
    var summary = UploadSummary()
    summary.notTaken = [NightscoutRefusal.actsAlthoughDeleted: 1, NightscoutRefusal.noDate: 2]
    let one = UploadText.advice(summary)
    #expect(one.count == 1 && one[0].contains("1 dose or meal that still counts"), "\(one)")
    #expect(one[0].hasSuffix("delete it on the site's web page as well"), "\(one)")
    #expect(UploadText.remarks(.complete, summary) == ["not taken: 2 (no usable date)"])
    summary.notTaken[NightscoutRefusal.actsAlthoughDeleted] = nil
    #expect(UploadText.advice(summary).isEmpty)
  }

  @Test func aFailedUploadHasNoResultAndReportsItsCompletedSteps() {
    var summary = UploadSummary()
    let failed = UploadEnding.failed(.readOnly)
    #expect(UploadText.result(failed, summary) == nil && UploadText.remarks(failed, summary).isEmpty)
    #expect(UploadText.result(.workLeft("no time"), summary)?.hasPrefix("pushed 0 readings") == true)
    summary.pushedReadings = 1
    #expect(
      UploadText.remarks(failed, summary)
        == ["before the failure: pushed 1 reading, 0 records · pulled 0 readings, 0 records · conflicts 0"])
    #expect(UploadText.remarks(.complete, summary).isEmpty)
  }
}

@Suite struct QuotedCommandTests {
  @Test func aCommandInAMessageIsQuotedUnlessOneOfItsWordsIsQuoted() {
    #expect(
      quotedCommand("glucoport", "count", "both", "mysugr", "clarity")
        == "'glucoport count both mysugr clarity'")
    #expect(
      quotedCommand("glucoport", "count", "both", "my phone", "a'b")
        == #"glucoport count both 'my phone' 'a'\''b'"#)
  }
}

/// Tests the progress line, which is rewritten again and again in a terminal.
@Suite struct ProgressLineTests {
  @Test(arguments: [
    ("", 5, ""), ("abcd", 5, "abcd"), ("abcde", 5, "abc…"), ("a · b", 5, "a ·…"), ("a…cd", 5, "a…cd"),
    ("漢字", 5, "漢字"), ("漢字x", 5, "漢…"), ("e\u{301}bcd", 5, "e\u{301}bcd"), ("👨‍👩‍👧ab", 5, "👨‍👩‍👧ab"), ("ab", 1, "…"),
  ]) func aProgressLineIsShortenedToTheColumnsOfTheTerminal(_ text: String, _ columns: Int, _ shown: String) {
    #expect(fitting(text, columns: columns) == shown)
  }

  @Test(arguments: [40, 100]) func theProgressLinesOfAnUploadAreNarrowerThanTheTerminal(_ columns: Int)
    async throws
  {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 2345), to: "all.csv")
    let outcome = try await program.shell(
      ServerScript.clients + """
        serve; connect a; of a import all.csv --quiet; export GLUCOPORT_STORE=a.db
        script -qec 'stty cols \(columns); glucoport upload >told' seen </dev/null >/dev/null; cat told
        stop >/dev/null
        """)
    #expect(outcome.output.hasPrefix("pushed 2,345 readings, 0 records · pulled"), "\(outcome)")
    let seen = try String(contentsOfFile: program.path("seen"), encoding: .utf8)
    let lines = seen.replacing("\u{1B}[K", with: "").split { $0 == "\r" || $0.isNewline }
      .filter { $0.hasPrefix("pushed") }
    #expect(!lines.isEmpty && lines.allSatisfy { $0.count < columns }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("…") } == (columns == 40), "\(lines)")
  }
}
