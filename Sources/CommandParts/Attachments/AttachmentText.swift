// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookStore
import Remotes

/// Attachments, and the contents that this store or the remote lacks, as lines of text.
package enum AttachmentText {
  /// The name, type and size of an attachment, from the fields of its record.
  static func summary(_ fields: [String: FieldValue]) -> String {
    let texts = ["name", "type"].compactMap { name -> String? in
      if case .text(let text)? = fields[name] { text } else { nil }
    }
    guard case .number(let size)? = fields["size"], let bytes = Int64(exactly: size) else {
      return texts.joined(separator: " · ")
    }
    return (texts + [ByteCountArgument.rounded(bytes)]).joined(separator: " · ")
  }

  /// The id, name, type, size and sync state of an attachment in one line.
  package static func line(_ attachment: StoredAttachment) -> String {
    [
      String(attachment.record.guid.prefix(8)), displayed(attachment.name), displayed(attachment.type),
      ByteCountArgument.rounded(attachment.size), stateWords(attachment),
    ].joined(separator: "  ")
  }

  /// The lines of `status` about contents that are still to be sent or fetched. The list is empty if there
  /// are none.
  package static func lines(_ backlog: AttachmentBacklog, for remote: RemoteSetting?) -> [String] {
    var parts: [String] = []
    if backlog.toSend > 0 {
      let bytes = ByteCountArgument.rounded(backlog.toSendBytes)
      parts.append(
        backlog.pending(for: remote) == 0
          ? "\(counted(backlog.toSend, "is", "are")) kept locally (\(bytes)); this remote stores no files"
          : "\(grouped(backlog.toSend)) to send (\(bytes))")
    }
    if backlog.toFetch > 0 { parts.append("\(grouped(backlog.toFetch)) not downloaded yet") }
    if backlog.refused > 0 { parts.append("\(grouped(backlog.refused)) refused") }
    if backlog.notFetched > 0 { parts.append("\(grouped(backlog.notFetched)) could not be downloaded") }
    return parts.isEmpty ? [] : ["contents of attachments: " + parts.joined(separator: ", ")]
  }

  /// The sentence about contents that the remote does not have yet. The store in which they were attached
  /// must upload them first.
  package static func absent(_ count: Int) -> String {
    counted(count, "content of an attachment was", "contents of attachments were")
      + " not on the remote when asked for; upload from the store in which \(count == 1 ? "it was" : "they were") attached, then run 'glucoport upload --now' here"
  }

  private static func stateWords(_ attachment: StoredAttachment) -> String {
    let refused = attachment.refusal.map { " (refused: \(displayed($0)))" } ?? ""
    if attachment.isWhole { return "whole" + refused }
    if attachment.digest.isEmpty { return "names no content" }
    guard attachment.held > 0, attachment.size > 0 else { return "not downloaded yet" + refused }
    return "\(min(99, attachment.held * 100 / attachment.size)) % downloaded" + refused
  }
}

extension AttachmentBacklog {
  /// The number of contents that the next upload to a remote sends; 0 if the remote stores no files.
  package func pending(for remote: RemoteSetting?) -> Int {
    remote.map { RemoteRegister.takesAttachments($0.access.kind) } ?? true ? toSend : 0
  }
}
