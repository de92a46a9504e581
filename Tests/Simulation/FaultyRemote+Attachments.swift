// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension FaultyRemote: AttachmentService {
  /// How much of a content the server has, as a number of bytes.
  package func heldContent(of digest: String, _ run: RunStamp) async throws(ServiceError) -> HeldContent {
    try await exchange("held", items: 1, at: \.attachments) { (host) async throws(ServiceError) in
      try await host.heldContent(of: digest, run)
    }
  }

  /// Sends a part of a content to the server.
  package func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(ServiceError) -> ContentAnswer {
    if let reason = contentRefusal?(content) { throw .refused(reason) }
    return try await exchange("append", items: 1, at: \.attachments) { (host) async throws(ServiceError) in
      try await host.append(bytes, to: content, at: offset, run)
    }
  }

  /// Fetches a part of a content that is complete on the server.
  package func part(
    of digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ContentPart? {
    var part = try await exchange("fetch", items: 1, at: \.attachments) {
      (host) async throws(ServiceError) in
      try await host.part(of: digest, from: offset, limit: limit, run)
    }
    if let damage, offset == 0, part?.bytes.isEmpty == false { part?.bytes[0] = damage }
    return part
  }
}
