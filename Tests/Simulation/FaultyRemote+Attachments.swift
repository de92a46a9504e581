// SPDX-License-Identifier: Apache-2.0

public import Logbook

extension FaultyRemote {
  private func takingFiles() throws(RemoteError) -> any AttachmentRemote {
    guard let host = host as? any AttachmentRemote else { throw .refused("this host takes no files") }
    return host
  }

  /// How much of a content the server has.
  public func held(_ digest: String, _ run: RunStamp) async throws(RemoteError) -> HeldContent {
    let host = try takingFiles()
    return try await exchange("held", items: 1) { () async throws(RemoteError) in
      try await host.held(digest, run)
    }
  }

  /// Sends a part of a content.
  public func append(
    _ bytes: [UInt8], to content: AttachmentContent, at offset: Int64, _ run: RunStamp
  ) async throws(RemoteError) -> ContentAnswer {
    if let reason = contentRefusal?(content) { throw .refused(reason) }
    let host = try takingFiles()
    return try await exchange("append", items: 1) { () async throws(RemoteError) in
      try await host.append(bytes, to: content, at: offset, run)
    }
  }

  /// A part of a content that the server has whole.
  public func fetch(
    _ digest: String, from offset: Int64, limit: Int, _ run: RunStamp
  ) async throws(RemoteError) -> ContentPart? {
    let host = try takingFiles()
    var part = try await exchange("fetch", items: 1) { () async throws(RemoteError) in
      try await host.fetch(digest, from: offset, limit: limit, run)
    }
    if let damage, offset == 0, part?.bytes.isEmpty == false { part?.bytes[0] = damage }
    return part
  }
}
