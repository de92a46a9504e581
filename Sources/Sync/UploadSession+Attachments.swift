// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

// MARK: - Sending

extension UploadSession {
  /// Sends the next part of the next content, or asks how much of it the remote holds. New readings and records are
  /// sent first.
  func pushAttachments() async throws -> UploadEvent {
    guard let remote = remote.attachments else {
      summary.keptAttachments = try store.sync { try $0.contentsToSend() }
      return .exhausted
    }
    guard let next = try store.sync({ try nextToSend($0) }) else { return .overtaken }
    guard let content = next.content else { return .exhausted }
    guard let (offset, bytes) = next.part else { return try await ask(remote, content) }
    let run = run
    let answer = await ask { () async throws(ServiceError) in
      try await remote.append(bytes, to: content, at: offset, run)
    }
    switch answer {
    case .failure(let error): return try afterFailure(error, sending: content.digest)
    case .success(.wrongDigest):
      // Data may have been lost in transfer; a second time is not an accident.
      if attachments.stall(content.digest, weight: AttachmentLane.maxStalls / 2) { return .done }
      return try refuse(content.digest, "the content that arrived on the remote does not match its SHA-256")
    case .success(.full(let reason)): return try refuse(content.digest, reason)
    case .success(.holds(let held)), .success(.misplaced(let held)):
      if AttachmentLane.isProgress(held.bytes - offset, of: bytes.count, isLast: held.isWhole) {
        attachments.succeed()
        summary.pushedAttachmentBytes += min(held.bytes - offset, Int64(bytes.count))
      } else if !held.isWhole {
        summary.pushedAttachmentBytes += max(0, min(held.bytes - offset, Int64(bytes.count)))
        guard attachments.stall(content.digest) else { return try leave(content.digest) }
      }
      return try note(held, of: content, isSent: true)
    }
  }

  private struct NextContent {
    var content: AttachmentContent?
    var part: (offset: Int64, bytes: [UInt8])?
  }

  /// The next content to send; nil if something else must be sent first.
  private func nextToSend(_ store: SyncTransaction) throws -> NextContent? {
    if try isOvertaken(store) { return nil }
    guard let content = try store.nextContentToSend(besides: attachments.setAside) else {
      return NextContent()
    }
    let part = try attachments.offset(of: content.digest).map {
      ($0, try store.bytes(of: content.digest, from: $0, limit: attachments.partSize.current))
    }
    if part != nil { try store.beginTransfer(.attachments, of: [content.digest], at: environment.now()) }
    return NextContent(content: content, part: part)
  }

  /// Whether there are new readings or records that this run can send.
  private func isOvertaken(_ store: SyncTransaction) throws -> Bool {
    guard plan.canPushRecords else { return false }
    if try store.hasPendingRecords(heldBack: heldBack) { return true }
    let pending = try store.unrefusedPendingReadings()
    defer { attachments.readingsLeft = pending }
    guard pending > attachments.readingsLeft ?? (summary.setAside > 0 ? pending : 0) else { return false }
    // They may precede those that were sent.
    lastReading = nil
    return true
  }

  private func ask(_ remote: any AttachmentService, _ content: AttachmentContent) async throws -> UploadEvent
  {
    let run = run
    let answer = await ask { () async throws(ServiceError) in try await remote.held(content.digest, run) }
    switch answer {
    // A question has no size to reduce.
    case .failure(.tooLarge): return .failed(.tooLarge, items: 0)
    case .failure(let error): return try afterFailure(error, sending: content.digest)
    case .success(let held): return try note(held, of: content, isSent: false)
    }
  }

  private func note(
    _ held: HeldContent, of content: AttachmentContent, isSent: Bool
  ) throws -> UploadEvent {
    if held.isWhole {
      try store.sync { store in
        try store.markUploaded(content.digest)
        try store.endTransfer(.attachments)
      }
      if isSent { summary.pushedAttachments += 1 }
    } else {
      // A part with another size on the remote is replaced by the first part.
      attachments.note(content.digest, endsAt: held.size == content.size ? held.bytes : 0)
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
    attachments.leave(digest)
    return .done
  }
}

// MARK: - Fetching

extension UploadSession {
  /// The delay before a content that the remote lacks is requested again: another node is still sending it.
  static let absentSeconds: Int64 = SyncTransaction.maxPostponementSeconds

  /// Fetches the next part of the most urgent content.
  func fetchAttachments() async throws -> UploadEvent {
    guard let remote = remote.attachments else { return .exhausted }
    let (now, run) = (environment.now(), run)
    let (setAside, asksForAbsent) = (attachments.setAside, plan.options.asksForAbsent)
    let wanted = try store.sync { store -> WantedContent?? in
      if try isOvertaken(store) { return .none }
      return .some(
        try store.nextContentToFetch(besides: setAside, at: now, includesPostponed: asksForAbsent))
    }
    guard let wanted else { return .overtaken }
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
      attachments.leave(wanted.digest)
      return .done
    case .success(let part?): return try keep(part, of: wanted, limit: limit)
    }
  }

  private func keep(_ part: ContentPart, of wanted: WantedContent, limit: Int) throws -> UploadEvent {
    guard part.size <= wanted.limit else {
      return try refuseDownload(
        wanted.digest, "its \(part.size) bytes exceed the limit of 'glucoport config attachment-limit'")
    }
    switch try store.sync({ try $0.append(part, to: wanted.digest, at: wanted.held) }) {
    case .isWhole:
      summary.pulledAttachments += 1
      summary.pulledAttachmentBytes += Int64(part.bytes.count)
    case .wasHere: break
    case .goesOn:
      summary.pulledAttachmentBytes += Int64(part.bytes.count)
      guard AttachmentLane.isProgress(Int64(part.bytes.count), of: limit, isLast: false) else {
        return try attachments.stall(wanted.digest) ? .done : leave(wanted.digest)
      }
    case .beginsAnew: return try attachments.stall(wanted.digest) ? .done : leave(wanted.digest)
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
    attachments.leave(digest)
    return .done
  }
}

// MARK: - Failures of both ways

extension UploadSession {
  /// Leaves a content for which a request fails. After an interruption, the transfer continues from the remote's
  /// current part.
  private func afterFailure(_ error: ServiceError, at digest: String) throws -> UploadEvent {
    switch error {
    case .unavailable where attachments.breakOff(): return .done
    case .tooLarge where attachments.halve(): return .done
    case .serverFailure, .tooLarge:
      summary.setAside += 1
      try plan.note(.workLeft("the remote failed for some attachments; the next run retries them"))
      return attachments.fail(digest) ? .done : .failed(error, items: 1)
    default: return .failed(error, items: 1)
    }
  }

  private func leave(_ digest: String) throws -> UploadEvent {
    attachments.leave(digest)
    summary.setAside += 1
    try plan.note(.workLeft("some attachments make no progress; the next run retries them"))
    return .done
  }
}

/// The progress of a run's attachments. A failing content is left for another run, and the next one continues.
struct AttachmentLane {
  /// The number of consecutive interruptions without a transferred part after which the remote counts as unreachable.
  static let maxBreaks = 6
  /// The number of contents for which the server may fail before the server counts as failing.
  static let maxFailing = 3
  /// The maximum number of answers for one content without progress.
  static let maxStalls = 8

  /// A smaller part counts as no progress if more was requested and it is not the last: with ranges of one byte, 25 MiB
  /// would take weeks.
  static let minPartBytes = 4096

  /// The digests of contents left for another run.
  private(set) var setAside: Set<String> = []
  private(set) var partSize: PartSize
  /// The number of pending readings that this run does not send.
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

  /// The end of the remote's part of a content; nil if it must be requested.
  func offset(of digest: String) -> Int64? { sending.flatMap { $0.digest == digest ? $0.offset : nil } }

  /// Records the end of the remote's part of a content.
  mutating func note(_ digest: String, endsAt offset: Int64) { sending = (digest, offset) }

  /// Records a transferred part.
  mutating func succeed() {
    breaks = 0
    partSize.succeed()
  }

  /// Records an interruption, after which the end of the remote's part is unknown.
  ///
  /// - Returns: whether to retry immediately.
  mutating func breakOff() -> Bool {
    sending = nil
    breaks += 1
    partSize.breakOff()
    return breaks < Self.maxBreaks
  }

  /// Records that a part was too large.
  ///
  /// - Returns: whether a smaller part is possible.
  mutating func halve() -> Bool { partSize.halve() }

  /// Records an answer without progress.
  ///
  /// - Parameter weight: the number of answers that it counts as.
  /// - Returns: whether to continue with the content.
  mutating func stall(_ digest: String, weight: Int = 1) -> Bool {
    sending = nil
    stalls[digest, default: 0] += weight
    return stalls[digest, default: 0] < Self.maxStalls
  }

  mutating func leave(_ digest: String) {
    setAside.insert(digest)
    sending = nil
  }

  /// Leaves a content for which the server failed.
  ///
  /// - Returns: whether to try other contents.
  mutating func fail(_ digest: String) -> Bool {
    leave(digest)
    failing += 1
    return failing < Self.maxFailing
  }
}
