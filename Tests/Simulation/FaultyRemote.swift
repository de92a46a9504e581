// SPDX-License-Identifier: Apache-2.0

package import Logbook
import SeededRandom
import Synchronization

/// How often the network and the server have faults. The number N means one in N requests, and 0 means never.
package struct Weather: Sendable {
  /// How often a request never arrives.
  package var drops = 0
  /// How often a request is performed, but its answer is lost.
  package var losesAnswers = 0
  /// How often a request arrives only after its sender gave up.
  package var delays = 0
  /// How often a request arrives again some time later.
  package var duplicates = 0
  /// How often the server answers that it has failed.
  package var serverErrors = 0
  /// How often the server answers that the sender must wait.
  package var asksToWait = 0
  /// How often the server answers that the request is too large.
  package var tooLarge = 0
  /// Whether the login has no right to write.
  package var isReadOnly = false

  /// A network and a server without faults.
  package static let calm = Weather()
  static let stormy = Weather(
    drops: 12, losesAnswers: 8, delays: 8, duplicates: 8, serverErrors: 20, asksToWait: 25, tooLarge: 10)
}

/// An event that happens during a request, before the sender gets its answer.
package struct Meanwhile: @unchecked Sendable {
  // Safe: the sender of the request waits for its answer, so nothing else uses the objects in the closure.
  let happen: () throws -> Void

  /// An event that happens once.
  package init(_ happen: @escaping () throws -> Void) { self.happen = happen }
}

/// A connection to a host for tests. There is no network, but the connection has all faults of a network.
package actor FaultyRemote: LogbookService {
  /// The requests so far, each as the name of the call and its number of items.
  package private(set) var requests: [String] = []
  /// The record changes in the last request that had any, even if the request did not arrive.
  package private(set) var lastChanges: [String] = []
  /// The error that an event threw during a request.
  package private(set) var failure: (any Error)?

  /// The limits of the host for one request.
  nonisolated package let batchLimits: BatchLimits
  private nonisolated let connection: @Sendable () -> any LogbookService
  /// The zone for the shown times of a host that stores only instants; nil until an upload sets it. Only one
  /// upload at a time uses this connection.
  nonisolated let zone = Mutex<LogbookZone?>(nil)
  private var random: SeededGenerator
  private var weather: Weather
  private var maxChanges: Int?
  private var refusal: (@Sendable (RecordState) -> String?)?
  private var readingRefusal: (@Sendable (Reading) -> String?)?
  private var meanwhile: [Meanwhile] = []
  var damage: UInt8?
  var contentRefusal: (@Sendable (AttachmentContent) -> String?)?
  /// Errors for the next requests, which are then not performed. For nil, the request is performed.
  private var scripted: [ServiceError?] = []
  /// The number of requests before the one whose answer is lost; nil to lose no answer.
  private var answersBeforeLoss: Int?
  /// Requests that will arrive at the server later, although their sender gave up or already has an answer.
  private var late: [@Sendable () async -> Void] = []

  /// A connection to a host. The seed determines which requests have faults.
  package init(_ host: any SimulatedHost, seed: UInt64 = 0, _ weather: Weather = .calm) {
    connection = host.connection()
    batchLimits = connection().batchLimits
    random = SeededGenerator(seed: seed)
    self.weather = weather
  }

  /// Sets how often the network and the server have faults.
  package func setWeather(_ weather: Weather) { self.weather = weather }

  /// Sets the number of items on a page of changes. By default, a page has one to five items.
  package func setPage(_ size: Int) { maxChanges = size }

  /// Refuses records permanently if the closure returns a reason.
  package func refuse(_ refusal: (@Sendable (RecordState) -> String?)?) { self.refusal = refusal }

  /// Refuses readings permanently if the closure returns a reason.
  package func refuseReadings(_ refusal: (@Sendable (Reading) -> String?)?) { readingRefusal = refusal }

  /// Runs these events during the next requests, one during each. An event runs after the server has
  /// performed the request.
  package func interrupt(_ things: Meanwhile...) { meanwhile += things }

  /// Ends the next requests with these errors. For nil, the request is performed.
  package func script(_ errors: ServiceError?...) { scripted += errors }

  /// Refuses attachment contents permanently if the closure returns a reason.
  package func refuseContents(_ refusal: (@Sendable (AttachmentContent) -> String?)?) {
    contentRefusal = refusal
  }

  /// Replaces the first byte of fetched contents by this byte. With nil, contents are unchanged.
  package func damageContents(_ byte: UInt8?) { damage = byte }

  /// Lets the server perform the next request, but loses its answer.
  package func loseNextAnswer() { loseAnswer(after: 0) }

  /// Lets the server perform `requests` requests and one more. Loses the answer of the last one.
  package func loseAnswer(after requests: Int) { answersBeforeLoss = requests }

  /// Removes the scripted errors and the planned loss of an answer.
  package func forgetScript() { (scripted, answersBeforeLoss) = ([], nil) }

  /// Clears the list of recorded requests.
  package func forgetRequests() { requests = [] }

  /// Returns the error that an event threw, and clears it. Also drops events that have not happened yet.
  package func takeFailure() -> (any Error)? {
    defer { (failure, meanwhile) = (nil, []) }
    return failure
  }

  /// Lets one of the late requests arrive at the server. Its answer is dropped.
  func deliverLate() async {
    guard let place = late.indices.randomElement(using: &random) else { return }
    await late.remove(at: place)()
  }

  /// A connection to the host without faults.
  nonisolated var host: any LogbookService { connection() }

  /// This connection; nil if the host does not offer parts of the logbook.
  nonisolated package var parts: (any PartService)? { connection().parts == nil ? nil : self }
  /// This connection; nil if the host does not offer digests.
  nonisolated package var digests: (any DigestService)? { connection().digests == nil ? nil : self }
  /// This connection; nil if the host does not store attachments.
  nonisolated package var attachments: (any AttachmentService)? {
    connection().attachments == nil ? nil : self
  }

  /// The logbook, and the rights of the login.
  package func logbook() async throws(ServiceError) -> RemoteLogbook {
    try await exchange("logbook", items: 0) { (host) async throws(ServiceError) in try await host.logbook() }
  }

  /// Sends readings. Readings that the test refuses permanently do not reach the storage.
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

  /// Sends changes of records. Changes that the test refuses permanently do not reach the storage.
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

  /// The changes of other nodes after the cursor.
  package func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    let few = pageSize(limit)
    return try await exchange("changes", items: few) { (host) async throws(ServiceError) in
      try await host.changes(after: cursor, limit: few, run)
    }
  }

  /// The digests of the readings that the server has.
  package func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await exchange("digests", items: 0) { (host) async throws(ServiceError) in
      try await host.readingDigests(run)
    }
  }
}

extension FaultyRemote: PartService {
  /// The changes of other nodes in a part of the logbook.
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

  /// The size of a page. It is small by default, so that edits and crashes happen between pages.
  private func pageSize(_ limit: Int) -> Int {
    min(limit, maxChanges ?? Int.random(in: 1...5, using: &random))
  }

  /// Sends a request to a port of the host. A late request looks the port up again, since the host may have
  /// opened another storage.
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
      try await ask(zone.map { connection().convertingTimes(in: $0) } ?? connection())
    }
    requests.append("\(name) \(items)")
    // The event runs after the server's work. For the sender, this looks the same as an event before it.
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
