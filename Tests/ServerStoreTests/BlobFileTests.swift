// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import LogbookAPI
import ServerStore
import ServiceConformance
import Testing

/// Tests the contents of attachments in the file of a logbook.
@Suite struct BlobFileTests {
  private let folder: ScratchFolder
  private let content = AttachmentContent(
    digest: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", size: 5)

  init() throws { folder = try ScratchFolder() }

  /// A closed storage whose logbook holds `hello` completely, and the path of its file.
  private func filled() async throws -> String {
    let stand = try await StoragePlace(bench: EmbeddedConformance.bench, folder: folder).start()
    let client = Client(stand)
    let outcome = try await client.service.neededAttachments.append(
      Array("hello".utf8), to: content, at: 0, client.run)
    #expect(outcome == .holds(HeldContent(bytes: 5, size: 5)))
    try await stand.stop()
    return folder.path + "/logbooks/\(client.login.logbook).db"
  }

  @Test(arguments: [
    ("DELETE FROM blob_part", "never deleted"), ("DELETE FROM blob", "never deleted"),
    ("UPDATE blob SET held = 0", "immutable"), ("UPDATE blob_part SET bytes = x'00'", "immutable"),
  ])
  func theServerDatabaseRefusesToDeleteOrChangeACompleteAttachment(_ sql: String, _ reason: String)
    async throws
  {
    let queue = try DatabaseQueue(path: try await filled())
    #expect { try queue.write { try $0.execute(sql: sql) } } throws: { "\($0)".contains(reason) }
  }
}
