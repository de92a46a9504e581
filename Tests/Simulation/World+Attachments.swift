// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookStore

/// Attachments in a simulated world. There are only a few different contents, so that several nodes attach
/// the same one.
extension World {
  func attach(_ node: SimulatedNode) throws {
    guard kind == .server else { return }
    let entries = try node.records().values.filter {
      !$0.state.isDeleted && $0.state.entryGuid == nil && $0.state.kind != .zone
    }
    .sorted { $0.guid < $1.guid }
    guard let entry = entries.randomElement(using: &random)?.guid else { return }
    let number = Int.random(in: 0..<8, using: &random)
    let guid = random.uuid()
    log("\(node.name) attaches content \(number) as \(guid.prefix(4)) to \(entry.prefix(4))")
    try node.attach(Self.content(number), as: guid, to: entry)
  }

  /// The bytes of the content with this number. A content is transferred in up to five parts.
  private static func content(_ number: Int) -> [UInt8] {
    (0..<number * 30).map { UInt8(truncatingIfNeeded: $0 &* 17 ^ number) }
  }

  /// Checks that the server has the complete content of each attachment that is marked as uploaded.
  func checkUploadedContents(_ node: SimulatedNode) async throws {
    guard let server = server as? any SimulatedStorageHost else { return }
    for attachment in try node.attachments() where attachment.isUploaded {
      guard try await server.held(attachment.digest).isWhole else {
        throw Broken("\(node.name): a content counts as uploaded, and the server does not have it")
      }
    }
  }

  /// Checks that all nodes and the server have every content that any node has. If no store or server was
  /// restored, no content may be missing.
  func compareContents() async throws {
    guard let server = server as? any SimulatedStorageHost else { return }
    var whole: Set<String> = []
    for node in nodes { whole.formUnion(try node.attachments().filter(\.isWhole).map(\.digest)) }
    for node in nodes {
      for attachment in try node.attachments() {
        guard attachment.isWhole else {
          if mayLackContents, !whole.contains(attachment.digest) { continue }
          throw Broken("\(node.name): the content of \(attachment.record.guid) is not here")
        }
        guard try node.sync().readContent(attachment.digest, { _ in }) else {
          throw Broken("\(node.name): the content of \(attachment.record.guid) is damaged")
        }
        guard try await server.held(attachment.digest).isWhole, attachment.isUploaded else {
          throw Broken("\(node.name): the server lacks the content of \(attachment.record.guid)")
        }
      }
    }
  }
}

extension SimulatedNode {
  /// Attaches a file with these bytes to an entry.
  package func attach(_ bytes: [UInt8], as guid: String, to entry: String) throws {
    let editor = try editor()
    let intake = try ContentIntake(connections.store(.editor))
    try bytes.withUnsafeBytes { try intake.add($0) }
    let content = try intake.end()
    var draft = RecordDraft(
      kind: .attachment, at: DeviceTime(seconds: 1_700_000_000),
      placement: Placement(utcOffset: 3600, source: .zone),
      fields: RecordFields([
        "name": .text("file"), "type": .text("application/octet-stream"),
        "size": .number(Double(content.size)), "sha256": .text(content.digest),
      ]))
    draft.entryGuid = entry
    _ = try editor.attach([(draft, guid)], intake)
  }

  /// The attachments of a node that are not deleted.
  package func attachments() throws -> [StoredAttachment] {
    let store = try sync()
    return try records().values.filter { $0.state.kind == .attachment && !$0.state.isDeleted }
      .flatMap { try store.attachments(of: $0.guid) }
  }
}
