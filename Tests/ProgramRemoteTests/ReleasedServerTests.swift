// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests that the server can use data folders of earlier versions. The released program of each version wrote
/// these folders.
@Suite(.timeLimit(.minutes(10))) struct ReleasedServerTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/servers").path

  private static var names: [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder)
    return (files ?? []).filter { $0.hasSuffix(".tar.gz") }.map { String($0.dropLast(7)) }.sorted()
  }

  @Test func aSampleServerFolderExistsForEachKeptVersion() { #expect(Self.names == ["4-5"]) }

  /// The archive contains the data folder `served` and the file `reader.token`. The text file contains the
  /// expected list of its readings and meals.
  @Test(arguments: names)
  func theFolderOfAnEarlierServerVersionIsServed(_ name: String) async throws {
    let program = try Program()
    let expected = try String(contentsOfFile: Self.folder + "/\(name).txt", encoding: .utf8)
    let outcome = try await program.shell(
      ServerScript.clients + """
        tar xzf '\(Self.folder)/\(name).tar.gz'; serve
        of one remote set "$url" --token-file reader.token >/dev/null; upload one >&2
        of one list --kind smbg,food | cut -d' ' -f 1-9
        connect two; row two 09 110; upload two >&2; upload one >&2; of one list --kind smbg | wc -l; stop >&2
        """)
    let count = expected.split(separator: "\n").count { $0.contains("smbg") } + 1
    #expect(outcome.output == expected + "\(count)\n", "\(outcome.output)\(outcome.errors)")
  }
}
