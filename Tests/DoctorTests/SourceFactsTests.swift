// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

@testable import Doctor

/// Tests what a checkup reports about sources.
@Suite struct SourceFactsTests {
  private static func setting(_ change: (inout SourceSetting) -> Void) -> SourceSetting {
    var setting = SourceSetting(name: "phone", access: SourceAccess(type: "http", intervalSeconds: 300))
    change(&setting)
    return setting
  }

  private func file(_ mode: UInt32, owner: UInt32 = 1000, kind: FileFact.FileKind = .file) -> FileFact {
    FileFact(path: "/f", kind: kind, owner: owner, mode: mode)
  }

  @Test func aSourceWithoutProblemsIsReportedAsGood() {
    let setting = Self.setting { $0.state.lastSuccess = 1_800_000_000 }
    let found = SourceFacts(setting, user: 1000, now: 1_800_000_000).findings
    #expect(found.map(\.state) == [.ok] && found[0].detail.contains("last fetch 2027-01-15"), "\(found)")
  }

  /// A clock that was ahead at the last fetch must not make the source look well until that time.
  @Test(arguments: [(Int64(120), Finding.State.ok), (121, .warn), (400 * 86_400, .warn)])
  func aLastFetchInTheFutureIsReportedAsAWarning(_ lead: Int64, _ state: Finding.State) {
    let setting = Self.setting { $0.state.lastSuccess = HealthyComputer.now + lead }
    let found = SourceFacts(setting, user: 1000, now: HealthyComputer.now).findings
    #expect(found.map(\.state) == [state], "\(found)")
    #expect(found[0].detail.contains("in the future") == (state == .warn), "\(found)")
  }

  @Test func theTokenFileOfASourceMustExistAndBePrivate() {
    let setting = Self.setting { $0.access.tokenFile = "/f" }
    func states(_ file: FileFact?) -> [FailureCategory?] {
      SourceFacts(setting, user: 1000, tokenFile: file, now: HealthyComputer.now).findings.map(\.category)
    }
    #expect(states(file(0o600)) == [nil])
    #expect(states(file(0o640)) == [.permission])
    #expect(states(file(0o600, owner: 0)) == [.permission])
    #expect(states(nil) == [.missingInput])
  }

  @Test func theProgramOfASourceMustBeExecutableAndNotWritableByOthers() {
    let setting = Self.setting { $0.access.command = ["/f", "secret argument"] }
    func found(_ file: FileFact?) -> [Finding] {
      SourceFacts(setting, user: 1000, program: file, now: HealthyComputer.now).findings
    }
    #expect(found(file(0o755)).map(\.state) == [.ok])
    #expect(found(file(0o644)).map(\.category) == [.permission])
    #expect(found(file(0o755, kind: .folder)).map(\.category) == [.permission])
    #expect(found(nil).map(\.category) == [.missingInput])
    #expect(found(file(0o775)).map(\.state) == [.warn])
    #expect(found(file(0o775)).allSatisfy { !$0.detail.contains("secret") })
  }

  @Test func aPersistentFailureAndMissingPeriodsOfASourceAreReported() {
    let refused = Self.setting {
      ($0.state.lastingCategory, $0.state.lastError) = (FailureCategory.permission.rawValue, "no")
      $0.state.isBlocked = true
      $0.state.holes = [SourceHole(from: 0, until: 9000)]
    }
    let found = SourceFacts(refused, user: 1000, now: HealthyComputer.now).findings
    #expect(found.map(\.state) == [.fail, .note] && found[0].category == .permission, "\(found)")
    #expect(found[0].detail.contains("fetch --now"))
    let passing = Self.setting { $0.state.lastError = "timed out" }
    #expect(SourceFacts(passing, user: 1000, now: HealthyComputer.now).findings.map(\.state) == [.note])
  }
}
