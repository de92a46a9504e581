// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Report
import SeededRandom
import Testing

@testable import CommandParts
@testable import Commands
@testable import LookCommands
@testable import glucoport

/// Compares how the program reads arguments and chooses exit statuses with a separate computation in the
/// tests.
@Suite struct ArgumentRuleTests {
  // MARK: - Exit statuses

  /// The exit statuses in the order of the manual. If several apply, the program returns the one that comes
  /// first in this list.
  private static let order: [Int32] = [70, 78, 77, 76, 74, 73, 69, 66, 65, 75, 3, 4, 0]

  @Test func theMoreSevereOfTwoExitStatusesIsReturned() throws {
    for (index, graver) in Self.order.enumerated() {
      for lighter in Self.order[index...] {
        let pair = try [graver, lighter].map { try #require(ExitStatus(rawValue: $0)) }
        #expect(ExitStatus.of(pair).rawValue == graver && ExitStatus.of(pair.reversed()).rawValue == graver)
      }
    }
  }

  @Test func aRunWithNothingToDoReturnsStatusZero() {
    #expect(ExitStatus.of([]) == .done && ExitStatus.of([.done, .done]) == .done)
    #expect(ExitStatus.of([.done, .partial, .done]) == .partial)
  }

  @Test func aRunEndedByASignalHasTheExitStatusThatAShellReturns() {
    #expect(ExitStatus(signal: SIGINT).rawValue == 130 && ExitStatus(signal: SIGTERM).rawValue == 143)
  }

  @Test(arguments: [
    (FailureCategory.usage, Int32(64)), (.badInput, 65), (.missingInput, 66), (.unavailable, 69),
    (.cannotCreate, 73), (.inputOutput, 74), (.temporary, 75), (.protocolViolation, 76), (.permission, 77),
    (.configuration, 78),
  ])
  func everyFailureHasTheExitStatusOfTheManual(_ category: FailureCategory, _ status: Int32) {
    #expect(ExitStatus(category).rawValue == status)
  }

  @Test func anErrorOfAnUnknownTypeIsReportedAsABug() {
    struct UnclassifiedError: Error {}
    #expect(Glucoport.report(UnclassifiedError(), "", Output()).rawValue == 70)
    #expect(Glucoport.report(OutputClosed(), "", Output()) == .done)
    #expect(Glucoport.report(ExitStatus.partial, "", Output()) == .partial)
  }

  // MARK: - Spans

  @Test(arguments: [("1d", 1), ("14d", 14), ("2w", 14), ("90d", 90)] as [(String, Int64)])
  func aSpanOfDaysOrWeeksIsReadInWholeDays(_ text: String, _ days: Int64) throws {
    let span = try SpanArgument.parse(text)
    #expect(span.days == days && span.seconds == days * 86_400)
  }

  @Test func aSpanOfHoursIsReadExactly() throws {
    for hours in [1, 24, 36] as [Int64] {
      let span = try SpanArgument.parse("\(hours)h")
      #expect(span.days == nil && span.seconds == hours * 3600)
    }
  }

  // MARK: - Targets

  @Test(arguments: Targets.named.map(\.name)) func aNamedSetOfGlucoseTargetsIsFoundByItsNameInEachUnit(
    _ name: String
  ) throws {
    for unit in [nil, GlucoseUnit.milligramsPerDecilitre, .millimolesPerLitre] {
      #expect(try TargetsArgument(name)?.targets(in: unit).name == name)
    }
  }

  @Test(
    arguments: [
      ("70-180", nil, 70, 180), ("3.9-10", nil, 70, 180), ("3.9-10.0", .millimolesPerLitre, 70, 180),
      ("63-140", .milligramsPerDecilitre, 63, 140), ("3.5-7.8", .millimolesPerLitre, 63, 140),
      ("54-250", .milligramsPerDecilitre, 54, 250), ("3-13.9", nil, 54, 250),
    ] as [(String, GlucoseUnit?, Int, Int)])
  func aTargetRangeIsReadInTheGivenUnit(_ text: String, _ unit: GlucoseUnit?, _ low: Int, _ high: Int) throws
  {
    let targets = try #require(try TargetsArgument(text)?.targets(in: unit))
    #expect(targets.low.milligrams == low && targets.high.milligrams == high && targets.goals == nil)
  }

  @Test(
    arguments: [
      ("53-180", nil), ("70-251", nil), ("180-70", nil), ("70-70", nil), ("2.9-10", nil), ("3.9-14", nil),
      ("70-180", .millimolesPerLitre), ("3.9-10", .milligramsPerDecilitre),
    ] as [(String, GlucoseUnit?)])
  func aTargetRangeOutsideTheLimitsIsAUsageError(_ text: String, _ unit: GlucoseUnit?) throws {
    let argument = try #require(TargetsArgument(text))
    let failure = #expect(throws: Failure.self) { try argument.targets(in: unit) }
    #expect(failure?.category == .usage && failure?.message.hasPrefix("--targets \(text): ") == true)
  }

  @Test(arguments: [
    "", "70", "70-", "-180", "70-180-250", "7e1-180", "70 - 180", "seventy-180", "0x46-180", "Standard",
  ])
  func anInvalidTargetRangeIsRefused(_ text: String) { #expect(TargetsArgument(text) == nil) }

  // MARK: - Numbers of bytes

  @Test(arguments: UInt64(1)...20) func aFormattedNumberOfBytesIsReadAsTheSameNumber(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for shift in [0, 10, 20, 30] {
      let bytes = Int64.random(in: 1...999, using: &generator) << Int64(shift)
      #expect(ByteCountArgument(argument: ByteCountArgument.text(bytes))?.bytes == bytes)
    }
    let odd = Int64.random(in: 0...999_999_999, using: &generator)
    #expect(ByteCountArgument(argument: ByteCountArgument.text(odd))?.bytes == odd)
  }

  // MARK: - Words

  @Test func alternativesInAMessageAreJoinedWithCommasAndOr() {
    #expect(alternatives([]) == "" && alternatives(["a"]) == "a" && alternatives(["a", "b"]) == "a or b")
    #expect(alternatives(["a", "b", "c"]) == "a, b or c")
  }

  /// Computes the edit distance of two words recursively from its definition. It tries all possible edits.
  private func distance(_ first: Substring, _ second: Substring) -> Int {
    guard let a = first.first, let b = second.first else { return max(first.count, second.count) }
    let (tail, other) = (first.dropFirst(), second.dropFirst())
    var best = min(distance(tail, second), distance(first, other)) + 1
    best = min(best, distance(tail, other) + (a == b ? 0 : 1))
    if let next = tail.first, let last = other.first, a == last, b == next {
      best = min(best, distance(tail.dropFirst(), other.dropFirst()) + 1)
    }
    return best
  }

  @Test(arguments: UInt64(1)...40) func theDistanceOfTwoWordsIsTheLowestNumberOfEdits(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func word() -> String {
      String(
        (0..<Int.random(in: 0...5, using: &generator)).map { _ in
          "abc".randomElement(using: &generator) ?? "a"
        })
    }
    let (first, second) = (word(), word())
    #expect(NearestWord.distance(first, second) == distance(first[...], second[...]), "\(first) \(second)")
    #expect(NearestWord.distance(second, first) == NearestWord.distance(first, second), "\(first) \(second)")
    #expect((NearestWord.distance(first, second) == 0) == (first == second))
  }
}

/// Tests which files are imported if an argument is a folder. The folders are on a real disk.
@Suite struct ImportPathTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let result = Result { try body(folder.path) }
    try FileManager.default.removeItem(at: folder)
    try result.get()
  }

  private func write(_ names: String..., in folder: String) throws {
    for name in names {
      let file = URL(filePath: "\(folder)/\(name)")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: file)
    }
  }

  private func names(_ paths: [String], depth: Int? = nil, in folder: String) throws -> [String] {
    try ImportPaths(paths, depth: depth).places.map { String($0.path.dropFirst(folder.count + 1)) }
  }

  @Test func theFilesOfAnImportedFolderAreSortedByName() throws {
    try withFolder { folder in
      try write("b.csv", "a/2.csv", "a/1.csv", "c.csv", "a.csv", "a/sub/9.csv", in: folder)
      #expect(
        try names([folder], in: folder) == ["a/1.csv", "a/2.csv", "a/sub/9.csv", "a.csv", "b.csv", "c.csv"])
      #expect(try ImportPaths([folder], depth: nil).places.allSatisfy { $0.folder == folder })
      #expect(try names([folder + "/"], in: folder) == names([folder], in: folder))
    }
  }

  @Test func theDepthOptionLimitsTheLevelsOfFoldersThatAreImported() throws {
    try withFolder { folder in
      try write("1.csv", "a/2.csv", "a/b/3.csv", "a/b/c/4.csv", in: folder)
      for depth in 1...4 { #expect(try names([folder], depth: depth, in: folder).count == depth, "\(depth)") }
      #expect(try names([folder], depth: 9, in: folder).count == 4)
    }
  }

  @Test func anImportOfAFolderSkipsHiddenFilesAndLinksToFolders() throws {
    try withFolder { folder in
      try write("1.csv", ".hidden.csv", ".git/2.csv", "a/3.csv", in: folder)
      try FileManager.default.createSymbolicLink(atPath: folder + "/again", withDestinationPath: folder)
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/copy.csv", withDestinationPath: folder + "/1.csv")
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/gone.csv", withDestinationPath: folder + "/none")
      #expect(try names([folder], in: folder) == ["1.csv", "a/3.csv", "copy.csv"])
      // A file that the command line names is imported, even if its name begins with a dot.
      #expect(try names([folder + "/.hidden.csv"], in: folder) == [".hidden.csv"])
    }
  }

  @Test func filesNamedOnTheCommandLineKeepTheirPositionBetweenFolders() throws {
    try withFolder { folder in
      try write("z.csv", "a/1.csv", "b/2.csv", in: folder)
      let paths = try ImportPaths(
        [folder + "/b", folder + "/z.csv", folder + "/a", "-", folder + "/none"], depth: nil)
      #expect(
        paths.places.map(\.path) == [
          folder + "/b/2.csv", folder + "/z.csv", folder + "/a/1.csv", "-", folder + "/none",
        ])
      #expect(paths.places.map { $0.folder != nil } == [true, false, true, false, false])
      #expect(paths.folders == [folder + "/b", folder + "/a"])
    }
  }

  @Test func anImportOfAnEmptyFolderFindsNoFiles() throws {
    try withFolder { folder in
      let paths = try ImportPaths([folder], depth: nil)
      #expect(paths.places.isEmpty && paths.folders == [folder])
    }
  }
}
