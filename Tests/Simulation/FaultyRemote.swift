// SPDX-License-Identifier: Apache-2.0

package import Logbook
import SeededRandom
import Synchronization

/// The frequency of faults of the network and the server: one in this many requests; 0 for never.
package struct Weather: Sendable {
  /// Requests that never arrive.
  package var drops = 0
  /// Requests that are performed, but whose answer is lost.
  package var losesAnswers = 0
  /// Requests that arrive after their sender gave up.
  package var delays = 0
  /// Requests that arrive a second time, later.
  package var duplicates = 0
  /// Answers of a server that fails.
  package var serverErrors = 0
  /// Answers that ask to wait.
  package var asksToWait = 0
  /// Answers that the request is too large.
  package var tooLarge = 0
  /// Whether the login may only read.
  package var isReadOnly = false

  /// No faults.
  package static let calm = Weather()
  static let stormy = Weather(
    drops: 12, losesAnswers: 8, delays: 8, duplicates: 8, serverErrors: 20, asksToWait: 25, tooLarge: 10)
}

/// An event during a request, before the sender has its answer.
package struct Meanwhile: @unchecked Sendable {
  // Safe: the sender of the request waits for its answer, so nothing else uses the objects in the closure.
  let happen: () throws -> Void

  /// An event that happens once.
  package init(_ happen: @escaping () throws -> Void) { self.happen = happen }
}

/// The connection to a host, without a network, but with all faults of one.
package actor FaultyRemote: LogbookService {
  /// The requests so far, by the name of the call, with the number of items.
  package private(set) var requests: [String] = []
  /// The changes of records in the last request with changes, even if it never arrived.
  package private(set) var lastChanges: [String] = []
  /// The error of an event during a request.
  package private(set) var failure: (any Error)?

  /// The limits of the host.
  nonisolated package let batchLimits: BatchLimits
  private nonisolated let connection: @Sendable () -> any LogbookService
  /// The zone for the times of a host that only has instants; nil before a run gives it. Only one run at a
  /// time uses this connection.
  nonisolated let zone = Mutex<LogbookZone?>(nil)
  private var random: SeededGenerator
  private var weather: Weather
  private var maxChanges: Int?
  private var refusal: (@Sendable (RecordState) -> String?)?
  private var readingRefusal: (@Sendable (Reading) -> String?)?
  private var meanwhile: [Meanwhile] = []
  var damage: UInt8?
  var contentRefusal: (@Sendable (AttachmentContent) -> String?)?
  /// Errors with which the next requests end without being performed.
  private var scripted: [ServiceError?] = []
  /// The number of requests before one whose answer is lost; nil for none.
  private var answersBeforeLoss: Int?
  /// Requests that arrive at the server after their sender gave up.
  private var late: [@Sendable () async -> Void] = []

  /// A connection to a host. The seed determines the faults.
  package init(_ host: any SimulatedHost, seed: UInt64 = 0, _ weather: Weather = .calm) {
    connection = host.connection()
    batchLimits = connection().batchLimits
    random = SeededGenerator(seed: seed)
    self.weather = weather
  }

  /// Changes the behaviour of the network.
  package func setWeather(_ weather: Weather) { self.weather = weather }

  /// Sets the size of pages. By default they have one to five items.
  package func setPage(_ size: Int) { maxChanges = size }

  /// Permanently refuses records for which this returns a reason.
  package func refuse(_ refusal: (@Sendable (RecordState) -> String?)?) { self.refusal = refusal }

  /// Permanently refuses readings for which this returns a reason.
  package func refuseReadings(_ refusal: (@Sendable (Reading) -> String?)?) { readingRefusal = refusal }

  /// Lets these events happen during the next requests, one in each, after the server's work.
  package func interrupt(_ things: Meanwhile...) { meanwhile += things }

  /// Ends the next requests with these errors; nil for a request without one.
  package func script(_ errors: ServiceError?...) { scripted += errors }

  /// Permanently refuses contents for which this returns a reason.
  package func refuseContents(_ refusal: (@Sendable (AttachmentContent) -> String?)?) {
    contentRefusal = refusal
  }

  /// Replaces the first byte of contents with this one; nil leaves them unchanged.
  package func damageContents(_ byte: UInt8?) { damage = byte }

  /// Performs the next request, and loses its answer.
  package func loseNextAnswer() { loseAnswer(after: 0) }

  /// Performs this many requests and one more, and loses the answer of the last.
  package func loseAnswer(after requests: Int) { answersBeforeLoss = requests }

  /// Ends all scripted errors.
  package func forgetScript() { (scripted, answersBeforeLoss) = ([], nil) }

  /// Clears the list of requests.
  package func forgetRequests() { requests = [] }

  /// Returns the error of an event, once. Events that have not happened by then are dropped.
  package func takeFailure() -> (any Error)? {
    defer { (failure, meanwhile) = (nil, []) }
    return failure
  }

  /// Lets one late request arrive. Its answer is dropped.
  func deliverLate() async {
    guard let place = late.indices.randomElement(using: &random) else { return }
    await late.remove(at: place)()
  }

  /// The current host.
  nonisolated var host: any LogbookService { connection() }

  /// This connection; nil if the host has no requests for parts.
  nonisolated package var parts: (any PartService)? { connection().parts == nil ? nil : self }
  /// This connection; nil if the host cannot be compared by digests.
  nonisolated package var digests: (any DigestService)? { connection().digests == nil ? nil : self }
  /// This connection; nil if the host does not store the content of attachments.
  nonisolated package var attachments: (any AttachmentService)? {
    connection().attachments == nil ? nil : self
  }

  /// The logbook and the rights of the login.
  package func logbook() async throws(ServiceError) -> RemoteLogbook {
    try await exchange("logbook", items: 0) { (host) async throws(ServiceError) in try await host.logbook() }
  }

  /// Sends readings. Permanently refused ones do not reach the storage.
  package func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    let refusal = readingRefusal
    return try await exchange("readings", items: batch.readings.count) {
      (host) async throws(ServiceError) in
      let reasons = batch.readings.map { refusal?($0) }
      let taken = batch.readings.indices.filter { reasons[$0] == nil }
      var rest = batch
      rest.readings = taken.map { batch.readings[$0] }
      var answer = try await host.store(rest, run)
      answer.differing = answer.differing.map { taken[$0] }
      answer.disputed = answer.disputed.map { taken[$0] }
      answer.sameAs = answer.sameAs.map { SameReading(item: taken[$0.item], document: $0.document) }
      answer.refused = reasons.enumerated().compactMap { place, reason in
        reason.map { RefusedItem(item: place, reason: $0) }
      }
      return answer
    }
  }

  /// Sends changes of records. Permanently refused ones do not reach the storage.
  package func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    let refusal = refusal
    lastChanges = changes.map(\.json)
    return try await exchange("records", items: changes.count) { (host) async throws(ServiceError) in
      let reasons = changes.map { refusal?($0.state) }
      let taken = zip(changes, reasons).filter { $1 == nil }.map(\.0)
      var answer = try await host.apply(taken, run)
      var verdicts = answer.verdicts.makeIterator()
      answer.verdicts = reasons.compactMap { reason in
        reason.map { .refused(reason: $0) } ?? verdicts.next()
      }
      return answer
    }
  }

  /// The changes of other stores after the cursor.
  package func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    let few = pageSize(limit)
    return try await exchange("changes", items: few) { (host) async throws(ServiceError) in
      try await host.changes(after: cursor, limit: few, run)
    }
  }

  /// Digests over the readings that the server has.
  package func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await exchange("digests", items: 0) { (host) async throws(ServiceError) in
      try await host.readingDigests(run)
    }
  }
}

extension FaultyRemote: PartService {
  /// The changes of others in a part.
  package func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage {
    let few = pageSize(limit)
    return try await exchange("parts", items: few, at: \.parts) { (parts) async throws(ServiceError) in
      try await parts.changes(of: part, after: cursor, limit: few, run)
    }
  }
}

extension FaultyRemote {
  private func happens(_ times: Int) -> Bool { times > 0 && random.once(in: times) }

  /// Small pages, so that edits and crashes happen between them.
  private func pageSize(_ limit: Int) -> Int {
    min(limit, maxChanges ?? Int.random(in: 1...5, using: &random))
  }

  /// A request to a port of the host, which may arrive when the host has opened another storage.
  func exchange<Port, Answer: Sendable>(
    _ name: String, items: Int, at port: @escaping @Sendable (any LogbookService) -> Port?,
    _ request: @escaping @Sendable (Port) async throws(ServiceError) -> Answer
  ) async throws(ServiceError) -> Answer {
    try await exchange(name, items: items) { (host) async throws(ServiceError) in
      guard let port = port(host) else { throw .refused("this host does not offer that") }
      return try await request(port)
    }
  }

  private func exchange<Answer: Sendable>(
    _ name: String, items: Int,
    _ ask: @escaping @Sendable (any LogbookService) async throws(ServiceError) -> Answer
  ) async throws(ServiceError) -> Answer {
    let (connection, zone) = (connection, zone.withLock { $0 })
    let request = { @Sendable () async throws(ServiceError) in
      try await ask(zone.map { connection().placing(in: $0) } ?? connection())
    }
    requests.append("\(name) \(items)")
    // The event runs after the server's work. The sender cannot distinguish that from an event before it.
    defer { runNextEvent() }
    if let error = failsAtOnce(name, items: items) { throw error }
    if happens(weather.delays) {
      late.append { _ = try? await request() }
      throw .unavailable("no answer in time")
    }
    let isRepeated = happens(weather.duplicates)
    let result: Result<Answer, ServiceError>
    do throws(ServiceError) {
      result = .success(try await request())
    } catch {
      result = .failure(error)
    }
    if isRepeated { late.append { _ = try? await request() } }
    if losesAnswer() || happens(weather.losesAnswers) {
      throw .unavailable("the answer was lost")
    }
    return try result.get()
  }

  private func losesAnswer() -> Bool {
    defer { answersBeforeLoss = answersBeforeLoss.flatMap { $0 > 0 ? $0 - 1 : nil } }
    return answersBeforeLoss == 0
  }

  private func failsAtOnce(_ name: String, items: Int) -> ServiceError? {
    if !scripted.isEmpty, let error = scripted.removeFirst() { return error }
    if happens(weather.drops) { return .unavailable("the request was lost") }
    if happens(weather.asksToWait) { return .busy("wait", retryAfterSeconds: 1) }
    if happens(weather.serverErrors) { return .serverFailure("500") }
    if items > 1, happens(weather.tooLarge) { return .tooLarge }
    return weather.isReadOnly && ["readings", "records", "append", "removal", "move"].contains(name)
      ? .readOnly : nil
  }

  private func runNextEvent() {
    guard !meanwhile.isEmpty else { return }
    do { try meanwhile.removeFirst().happen() } catch { failure = error }
  }
}
