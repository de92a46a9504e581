// SPDX-License-Identifier: Apache-2.0

import LogbookStore

/// An attachment, as `record attachments --json` prints it; glucoport-json(5) documents its members.
struct AttachmentObject: Encodable {
  let guid: String
  let entryGuid: String?
  let name: String
  let type: String
  let size: Int64
  let sha256: String
  let content: String
  let held: Int64
  let uploaded: Bool
  let refused: String?

  init(_ attachment: StoredAttachment) {
    guid = attachment.record.guid
    entryGuid = attachment.record.entryGuid
    name = attachment.name
    type = attachment.type
    size = attachment.size
    sha256 = attachment.digest
    content = attachment.isWhole ? "whole" : "missing"
    held = attachment.held
    uploaded = attachment.isUploaded
    refused = attachment.refusal
  }
}

/// The contents that are not yet on both sides, in `status --json`.
struct AttachmentBacklogObject: Encodable {
  let toSend: Int
  let toSendBytes: Int64
  let toFetch: Int
  let refused: Int
  let notFetched: Int

  init(_ backlog: AttachmentBacklog) {
    toSend = backlog.toSend
    toSendBytes = backlog.toSendBytes
    toFetch = backlog.toFetch
    refused = backlog.refused
    notFetched = backlog.notFetched
  }
}
