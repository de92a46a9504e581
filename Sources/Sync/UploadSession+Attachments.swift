// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

// MARK: - Sending

extension UploadSession {
  /// Sends the next part of the next content, or asks how much of it the remote has. If there are new
  /// readings or records, it returns `newItemsFirst`, so that these are sent first.
  func pushAttachments() async throws -> UploadEvent {
    guard let remote = remote.attachments else {
      summary.keptAttachments = try store.sync { try $0.contentsToSend() }
      return .exhausted
    }
    guard let next = try store.sync({ try nextToSend($0) }) else { return .newItemsFirst }
    guard let content = next.content else { return .exhausted }
    guard let (offset, bytes) = next.part else { return try await requestHeldContent(remote, content) }
    let run = run
    let answer = await ask { () async throws(ServiceError) in
      try await remote.append(bytes, to: content, at: offset, run)
    }
    switch answer {
    case .failure(let error): return try afterFailure(error, sending: content.digest)
    case .success(.wrongDigest):
      // The data may have been damaged during the transfer. If this happens a second time for a content, the
      // cause is not the transfer.
      if attachments.stall(content.digest, weight: AttachmentLane.maxStalls / 2) { return .done }
      return try refuse(content.digest, "the content that arrived on the remote does not match its SHA-256")
    case .success(.full(let reason)): return try refuse(content.digest, reason)
    case .success(.holds(let held)), .success(.misplaced(let held)):
      if AttachmentLane.isProgress(held.bytes - offset, of: bytes.count, isLast: held.isWhole) {
        attachments.succeed()
        summary.pushedAttachmentBytes += min(held.bytes - offset, Int64(bytes.count))
      } else if !held.isWhole {
        summary.pushedAttachmentBytes += max(0, min(held.bytes - offset, Int64(bytes.count)))
        guard attachments.stall(content.digest) else { return try postpone(content.digest) }
      }
      return try applyHeldContent(held, of: content, isSent: true)
    }
  }

  private struct NextContent {
    var content: AttachmentContent?
    var part: (offset: Int64, bytes: [UInt8])?
  }

  /// The next content to send; nil if readings or records must be sent first.
  private func nextToSend(_ store: SyncTransaction) throws -> NextContent? {
    if try hasNewItems(store) { return nil }
    guard let content = try store.nextContentToSend(besides: attachments.setAside) else {
      return NextContent()
    }
    let part = try attachments.offset(of: content.digest).map {
      ($0, try store.bytes(of: content.digest, from: $0, limit: attachments.partSize.current))
    }
    if part != nil { try store.beginTransfer(.attachments, of: [content.digest], at: environment.now()) }
    return NextContent(content: content, part: part)
  }

  /// Whether there are new readings or records which this upload can send.
  private func hasNewItems(_ store: SyncTransaction) throws -> Bool {
    guard plan.canPushRecords else { return false }
    if try store.hasPendingRecords(heldBack: heldBack) { return true }
    let pending = try store.unrefusedPendingReadings()
    defer { attachments.readingsLeft = pending }
    guard pending > attachments.readingsLeft ?? (summary.setAside > 0 ? pending : 0) else { return false }
    // The new readings may come before those that were already sent, so the search begins again.
    lastReading = nil
    return true
  }

  private func requestHeldContent(_ remote: any AttachmentService, _ content: AttachmentContent) async throws
    -> UploadEvent
  {
    let run = run
    let answer = await ask { () async throws(ServiceError) in
      try await remote.heldContent(of: content.digest, run)
    }
    switch answer {
    // This request has no content whose size could be reduced, so the upload fails.
    case .failure(.tooLarge): return .failed(.tooLarge, items: 0)
    case .failure(let error): return try afterFailure(error, sending: content.digest)
    case .success(let held): return try applyHeldContent(held, of: content, isSent: false)
    }
  }

  private func applyHeldContent(
    _ held: HeldContent, of content: AttachmentContent, isSent: Bool
  ) throws -> UploadEvent {
    if held.isWhole {
      try store.sync { store in
        try store.markUploaded(content.digest)
        try store.endTransfer(.attachments)
      }
      if isSent { summary.pushedAttachments += 1 }
    } else {
      // If the remote has a part of a content, but states another size for it, the content is sent again from
      // its first byte.
      attachments.setOffset(of: content.digest, to: held.size == content.size ? held.bytes : 0)
    }
    return .done
  }

  private func afterFailure(_ error: ServiceError, sending digest: String) throws -> UploadEvent {
    switch error {
    case .tooLarge where attachments.halve(): return .done
    case .tooLarge: return try refuse(digest, "larger than the remote accepts")
    case .refused(let reason): return try refuse(digest, reason)
    default: return try afterFailure(error, at: digest)
    }
  }

  private func refuse(_ digest: String, _ reason: String) throws -> UploadEvent {
    try store.sync { try $0.refuseContent(digest, reason: reason) }
    summary.refused += 1
    attachments.postpone(digest)
    return .done
  }
}

// MARK: - Fetching

extension UploadSession {
  /// The delay in seconds before a content that the remote lacks is requested again. Another node is probably
  /// still sending it.
  static let absentSeconds: Int64 = SyncTransaction.maxPostponementSeconds

  /// Downloads the next part of the content that is first in the queue.
  func fetchAttachments() async throws -> UploadEvent {
    guard let remote = remote.attachments else { return .exhausted }
    let (now, run) = (environment.now(), run)
    let (setAside, requestsAbsentAtOnce) = (attachments.setAside, plan.options.requestsAbsentAtOnce)
    let wanted = try store.sync { store -> WantedContent?? in
      if try hasNewItems(store) { return .none }
      return .some(
        try store.nextContentToFetch(besides: setAside, at: now, includesPostponed: requestsAbsentAtOnce))
    }
    guard let wanted else { return .newItemsFirst }
    guard let wanted else {
      summary.absentAttachments = try store.sync { try $0.absentContents() }
      return .exhausted
    }
    let limit = attachments.partSize.current
    let answer = await ask { () async throws(ServiceError) in
      try await remote.part(of: wanted.digest, from: wanted.held, limit: limit, run)
    }
    switch answer {
    case .failure(.refused(let reason)): return try refuseDownload(wanted.digest, reason)
    case .failure(let error): return try afterFailure(error, at: wanted.digest)
    case .success(nil):
      try store.sync { try $0.postponeContent(wanted.digest, until: now + Self.absentSeconds) }
      attachments.postpone(wanted.digest)
      return .done
    case .success(let part?): return try storePart(part, of: wanted, limit: limit)
    }
  }

  private func storePart(_ part: ContentPart, of wanted: WantedContent, limit: Int) throws -> UploadEvent {
    guard part.size <= wanted.limit else {
      return try refuseDownload(
        wanted.digest, "its \(part.size) bytes exceed the limit of 'glucoport config attachment-limit'")
    }
    switch try store.sync({ try $0.append(part, to: wanted.digest, at: wanted.held) }) {
    case .isWhole:
      summary.pulledAttachments += 1
      summary.pulledAttachmentBytes += Int64(part.bytes.count)
    case .alreadyStored: break
    case .morePartsFollow:
      summary.pulledAttachmentBytes += Int64(part.bytes.count)
      guard AttachmentLane.isProgress(Int64(part.bytes.count), of: limit, isLast: false) else {
        return try attachments.stall(wanted.digest) ? .done : postpone(wanted.digest)
      }
    case .restarts: return try attachments.stall(wanted.digest) ? .done : postpone(wanted.digest)
    case .wrongDigest:
      summary.damagedAttachments += 1
      return try refuseDownload(
        wanted.digest, "the content from the remote does not match its SHA-256")
    }
    attachments.succeed()
    return .done
  }

  private func refuseDownload(_ digest: String, _ reason: String) throws -> UploadEvent {
    try store.sync { try $0.refuseFetch(of: digest, reason: reason) }
    summary.refused += 1
    summary.refusedDownloads += 1
    attachments.postpone(digest)
    return .done
  }
}

// MARK: - Failures of both ways

extension UploadSession {
  /// Skips a content for which a request failed. If only the connection broke, the transfer continues after
  /// the bytes that the remote has.
  private func afterFailure(_ error: ServiceError, at digest: String) throws -> UploadEvent {
    switch error {
    case .unavailable where attachments.halveAfterLostConnection(): return .done
    case .tooLarge where attachments.halve(): return .done
    case .serverFailure, .tooLarge:
      summary.setAside += 1
      try plan.advance(after: .workLeft("the remote failed for some attachments; the next run retries them"))
      return attachments.fail(digest) ? .done : .failed(error, items: 1)
    default: return .failed(error, items: 1)
    }
  }

  private func postpone(_ digest: String) throws -> UploadEvent {
    attachments.postpone(digest)
    summary.setAside += 1
    try plan.advance(after: .workLeft("some attachments make no progress; the next run retries them"))
    return .done
  }
}

/// The progress of attachments in an upload. If a content fails, it is left for the next upload, and this
/// upload continues with the next content.
struct AttachmentLane {
  /// The number of times that the connection may break without a transferred part before the remote counts as
  /// unreachable.
  static let maxBreaks = 6
  /// The number of contents for which the server fails before the server itself counts as failing.
  static let maxFailing = 3
  /// The maximum number of responses for one content that bring no progress.
  static let maxStalls = 8

  /// The minimum number of bytes that count as progress. Fewer count only if fewer were requested or the
  /// content ends. With one byte in each response, 25 MiB would take weeks.
  static let minPartBytes = 4096

  /// The digests of contents that are left for the next upload.
  private(set) var setAside: Set<String> = []
  private(set) var partSize: PartSize
  /// The number of pending readings that this upload does not send; nil if not counted yet.
  var readingsLeft: Int?
  private var sending: (digest: String, offset: Int64)?
  private var breaks = 0
  private var failing = 0
  private var stalls: [String: Int] = [:]

  init(_ partSize: PartSize) { self.partSize = partSize }

  /// Whether this number of received bytes counts as progress.
  static func isProgress(_ bytes: Int64, of requested: Int, isLast: Bool) -> Bool {
    bytes > 0 && (isLast || bytes >= min(Int64(requested), Int64(minPartBytes)))
  }

  /// The number of bytes of a content that the remote has; nil if the remote must be asked.
  func offset(of digest: String) -> Int64? { sending.flatMap { $0.digest == digest ? $0.offset : nil } }

  /// Notes how many bytes of a content the remote has.
  mutating func setOffset(of digest: String, to offset: Int64) { sending = (digest, offset) }

  /// Counts a transferred part, which ends a series of broken connections.
  mutating func succeed() {
    breaks = 0
    partSize.succeed()
  }

  /// Counts a broken connection, after which it is unknown how many bytes the remote has.
  ///
  /// - Returns: whether to try again at once.
  mutating func halveAfterLostConnection() -> Bool {
    sending = nil
    breaks += 1
    partSize.halveAfterLostConnection()
    return breaks < Self.maxBreaks
  }

  /// Reduces the size of parts after a part was too large.
  ///
  /// - Returns: whether a smaller part is possible.
  mutating func halve() -> Bool { partSize.halve() }

  /// Counts a response that brought no progress.
  ///
  /// - Parameter weight: the number of responses for which this one counts.
  /// - Returns: whether to continue with this content.
  mutating func stall(_ digest: String, weight: Int = 1) -> Bool {
    sending = nil
    stalls[digest, default: 0] += weight
    return stalls[digest, default: 0] < Self.maxStalls
  }

  mutating func postpone(_ digest: String) {
    setAside.insert(digest)
    sending = nil
  }

  /// Leaves a content for the next upload, since the server failed for it.
  ///
  /// - Returns: whether to continue with other contents.
  mutating func fail(_ digest: String) -> Bool {
    postpone(digest)
    failing += 1
    return failing < Self.maxFailing
  }
}
