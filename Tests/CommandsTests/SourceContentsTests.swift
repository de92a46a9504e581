// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import LogbookStore
import Remotes
import TemporaryFiles
import Testing

@testable import Commands

/// Tests how an answer of a source is examined before its values are stored.
@Suite struct SourceContentsTests {
  /// A message begins with the name of the source, even if the name equals the host. The reason after it
  /// begins with the host.
  @Test func aFailedFetchNamesItsSourceEvenIfItIsNamedLikeTheHost() async throws {
    var access = SourceAccess(type: "http", intervalSeconds: 60)
    (access.url, access.allowsPlainHTTP) = ("http://localhost:1/sgv.json", true)
    let request = SourceRequest(setting: SourceSetting(name: "localhost", access: access))
    let failed = await #expect(throws: SourceRequest.Failed.self) { try await request.send(SourceState()) }
    let message = try #require(failed?.error.failure.message)
    #expect(message.hasPrefix("localhost: localhost"), "\(message)")
  }

  /// If the times need a zone and the zone is unknown, `source set` refuses the source, since its first fetch
  /// would fail.
  @Test(arguments: [("2026-05-06 10:00", true), ("2026-05-06T10:00:00+02:00", false)])
  func fetchedTimesWithoutAnOffsetNeedTheTimeZoneOfTheLogbook(_ time: String, _ needsZone: Bool) throws {
    let body = SourceBody(file: try UnlinkedFile(), name: "source file")
    let table = Array("time,sensor glucose (mg/dL)\n\(time),140\n".utf8)
    try table.withUnsafeBytes { try body.file.append($0) }
    var options = ExportOptions(zone: try LogbookZone(name: "UTC"), now: nil)
    options.format = "generic"
    let contents = try SourceContents(body, options)
    #expect(contents.readings[.cbg] == 1 && contents.needsZone == needsZone)
  }
}
