// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import Remotes
import USBTransport

/// One fetch from one source: the check whether it may be asked, the request, the import, and the stored
/// state.
struct FetchRun {
  /// How a fetch ended.
  enum Ending {
    /// An answer was imported, which may have contained no readings.
    case stored(AnswerCounts)
    /// The source returned the same answer as before.
    case unchanged
    /// The interval since the last fetch has not passed. The value is the time of the next attempt in UTC
    /// seconds.
    case notDue(Int64)
    /// The fetch failed, or it was not tried since a person must act first. `isKnown` means that an earlier
    /// fetch had the same kind of failure.
    case failed(Failure, isKnown: Bool)
  }

  /// How many items of an answer were stored, known or rejected.
  struct AnswerCounts {
    var newReadings = 0
    var knownReadings = 0
    /// The number of readings with another value than the stored reading of the same device and time.
    var changedReadings = 0
    var newRecords = 0
    var knownRecords = 0
    var updatedRecords = 0
    var rejected = 0
    var rejections: [Rejection] = []
    /// The number of values in the answer that differ from the stored values at the same times. The stored
    /// values are kept.
    var otherValues = 0
    /// Other devices in the store that have the same readings.
    var likelyDuplicates: [LikelyDuplicate] = []
    /// Warnings about finger sticks that may be of another person.
    var doubts: [String] = []
    /// Whether the source has more items, which the next run reads.
    var hasMore = false

    /// Whether the answer had no item that was stored or known.
    var isNothingUsed: Bool {
      newReadings + knownReadings + changedReadings + newRecords + knownRecords + updatedRecords == 0
    }

    mutating func add(_ report: ImportReport) {
      let counts = report.counts
      newReadings += counts.newReadings
      let others = counts.skipped[TwinFilter.otherValueReason] ?? 0
      changedReadings += counts.changedReadings
      knownReadings += counts.readings - counts.newReadings - counts.changedReadings
      knownReadings += others + (counts.skipped[TwinFilter.reason] ?? 0)
      otherValues += others
      likelyDuplicates += report.likelyDuplicates
      newRecords += counts.newRecords
      updatedRecords += counts.updatedRecords
      knownRecords += counts.records - counts.newRecords - counts.updatedRecords
      rejected += counts.rejected
      rejections += report.rejections
    }
  }

  let store: Store
  let isUnattended: Bool
  let isNow: Bool
  /// When the command must end; nil for no limit.
  let end: ContinuousClock.Instant?

  /// Fetches from a source. The caller must hold the lock for fetches.
  ///
  /// - Returns: how the fetch ended, and the new state of the source.
  /// - Throws: `Failure` if the store fails.
  func run(_ setting: SourceSetting) async throws -> (ending: Ending, state: SourceState) {
    let gate = SourceGate(setting: setting, now: Host.now())
    switch gate.verdict(isUnattended: isUnattended, isNow: isNow) {
    case .open: break
    case .notDue(let next): return (.notDue(next), setting.state)
    case .asked(let next):
      return resultWithoutRequest(setting) {
        "the source asked for no request before \(instant(next)) (\($0))"
      }
    case .waiting(let next):
      return resultWithoutRequest(setting) {
        "the next attempt is due \(instant(next)), because the last one failed (\($0)); to try now, use --now"
      }
    case .blocked(let failure): return (.failed(failure, isKnown: true), setting.state)
    }
    try refuseRemote(setting)
    let begun = gate.begun
    try store.setState(begun, of: setting)
    do {
      let (ending, state) = try await fetch(setting, begun, gate)
      try store.setState(state, of: setting)
      return (ending, state)
    } catch let failed as SourceRequest.Failed {
      return try storeFailure(failed, setting, gate)
    }
  }

  /// The result of a fetch that sends no request. If an earlier failure is lasting, the result is this
  /// failure again.
  ///
  /// - Parameter reason: makes the message from the last error if the failure was temporary.
  private func resultWithoutRequest(
    _ setting: SourceSetting, _ reason: (_ lastError: String) -> String
  ) -> (ending: Ending, state: SourceState) {
    let persistent = setting.state.persistentFailure
    let words = reason(setting.state.lastError ?? "")
    let failure = persistent ?? Failure(.temporary, "\(setting.name): \(words)")
    return (.failed(failure, isKnown: persistent != nil), setting.state)
  }

  /// Stores in the state of the source that a fetch failed, for later runs.
  private func storeFailure(
    _ failed: SourceRequest.Failed, _ setting: SourceSetting, _ gate: SourceGate
  ) throws -> (ending: Ending, state: SourceState) {
    if SignalFlag.isRaised { throw failed.error.failure }
    let isKnown = setting.state.lastingCategory == failed.error.failure.category.rawValue
    let state = gate.failed(
      failed.state, failed.error, wasAsked: failed.wasAsked, jitter: Double.random(in: 0..<1))
    try store.setState(state, of: setting)
    return (.failed(failed.error.failure, isKnown: isKnown), state)
  }

  private func fetch(
    _ setting: SourceSetting, _ begun: SourceState, _ gate: SourceGate
  ) async throws -> (ending: Ending, state: SourceState) {
    let request = SourceRequest(setting: setting, end: end)
    var result = try await request.send(begun)
    var ending = Ending.unchanged
    if let body = result.body {
      let digest = try body.digest()
      if digest != begun.digest {
        let (counts, contents) = try failingWithState(result.state) {
          try request.check(body)
          return try importContents(body, setting, request.options(for: store, of: body))
        }
        update(contents, of: setting, &result.state)
        var stored = counts
        stored.hasMore = result.hasMore
        ending = .stored(stored)
        result.state.digest = digest
      }
    }
    let found = result.state.foundHoles ?? result.state.holes
    (result.state.foundHoles, result.state.holes) = try SourceHoles.examine(found, in: store, now: Host.now())
    let jitter = Double.random(in: 0..<1)
    return (ending, gate.succeeded(result.state, hasMore: result.hasMore, jitter: jitter))
  }

  private func update(_ contents: SourceContents, of setting: SourceSetting, _ state: inout SourceState) {
    let now = Host.now()
    // A Nightscout site keeps all values, and all of them are read. So there are no holes, which are times
    // with lost values.
    if setting.type != .nightscout {
      let (values, count) = (contents.values, contents.readings[.cbg] ?? 0)
      state.foundHoles = SourceHoles.after(state, oldest: values?.lowerBound, count: count, now: now)
      SourceHoles.updateReach(of: values, count: count, now: now, &state)
    }
    // If the clock of a sensor is ahead, the newest value is in the future. Its time is limited to the
    // present, since a later time would hide holes. If the clock of this computer is evidently wrong, no time
    // is stored.
    if let newest = contents.values?.upperBound, now >= Release.date {
      state.newestValue = max(state.newestValue ?? .min, min(newest, now))
    }
  }

  /// Runs work on an answer, and throws its failures as failures of the request. The entity tag and the date
  /// of the answer are dropped, so that the next fetch gets the same answer again.
  private func failingWithState<Value>(_ state: SourceState, _ work: () throws -> Value) throws -> Value {
    var state = state
    (state.entityTag, state.lastModified) = (nil, nil)
    do {
      return try work()
    } catch let error as SourceFailure {
      throw SourceRequest.Failed(error: error, state: state, wasAsked: true)
    } catch let failure as Failure where [.badInput, .configuration, .usage].contains(failure.category) {
      throw SourceRequest.Failed(error: SourceFailure(failure), state: state, wasAsked: true)
    } catch let interruption as ImportInterruption {
      throw Failure(.temporary, ImportSummary.line(interruption, isDryRun: false))
    }
  }

  private func importContents(
    _ body: SourceBody, _ setting: SourceSetting, _ options: ExportOptions
  ) throws -> (AnswerCounts, SourceContents) {
    let contents = try SourceContents(body, options)
    if !setting.state.acceptsPerson {
      try InputPerson(contents.persons, of: body.name, for: store, at: store.path).require()
    }
    guard !contents.isEmpty else {
      try requireEnd(of: contents, setting)
      return (AnswerCounts(), contents)
    }
    let others = try OthersMeters(store.path)
    let stores = try setting.state.acceptsPerson ? nil : OthersStores(store.path, store)
    var policy = ImportPolicy()
    policy.acceptsPerson = setting.state.acceptsPerson
    let session = ImportSession(
      policy: policy, clock: Host.now, isInterrupted: { SignalFlag.isRaised },
      onDevices: others.map { others in
        {
          try others.requireNone(of: $0, in: setting.name) { _ in
            "set the source for that person, or give the meter to this one with 'glucoport person assign'"
          }
        }
      },
      onFirstBatch: stores.map { stores in
        {
          try stores.requireNone(of: $0, format: $1, in: setting.name) { _ in
            "set the source for that person, or set it again with --accept-person"
          }
        }
      })
    var counts = AnswerCounts()
    try body.forEachReader(options) { reader in
      let filter = try TwinFilter(reader, values: contents.values, in: store)
      let report = try session.run(filter, into: { store })
      counts.add(report)
      guard !setting.state.acceptsPerson, !report.statesPerson else { return }
      let sticks = try OthersSticks(
        report, in: store, advice: "set the source for that person with 'glucoport source set'")
      if let warning = try sticks?.warning(in: store) { counts.doubts.append(warning) }
    }
    if counts.rejected > 0, counts.isNothingUsed {
      let first = counts.rejections.first.map { ": \(displayed($0.reason))" } ?? ""
      throw SourceFailure(
        Failure(
          .badInput,
          "\(setting.name): nothing in the answer can be used, \(counted(counts.rejected, "item")) rejected\(first)"
        ))
    }
    try requireEnd(of: contents, setting)
    return (counts, contents)
  }

  private func requireEnd(of contents: SourceContents, _ setting: SourceSetting) throws {
    guard let fault = contents.end.fault else { return }
    throw SourceFailure(
      Failure(
        .temporary,
        "\(setting.name): the answer\(fault); what was read is stored, and the next attempt reads it again"))
  }

  /// Refuses a source that has become the store's remote since the source was set.
  private func refuseRemote(_ setting: SourceSetting) throws {
    if let remote = try store.remote() { try SourceRemote.refuse(setting.access, as: remote.access) }
  }
}

/// Checks whether a source is the remote of the store. `upload` already fetches the items of the remote and
/// their changes, so such a source is refused.
enum SourceRemote {
  /// Refuses a source that is the same site as the remote.
  ///
  /// - Throws: `Failure` of category `configuration` if the source and the remote are the same site.
  static func refuse(_ source: SourceAccess, as remote: RemoteAccess) throws {
    guard let url = source.url, remote.kind == "nightscout" || source.type == SourceType.nightscout.rawValue
    else { return }
    let site = try RemoteAddress(remote.url, allowsPlainHTTP: true)
    let address = try SourceAddress(url, allowsPlainHTTP: true)
    guard address.server.isSameServer(as: site), address.isBelow(site) else { return }
    throw Failure(
      .configuration,
      "\(site.host): this is the remote of the store, whose changes 'glucoport upload' fetches; a source must be another place"
    )
  }
}
