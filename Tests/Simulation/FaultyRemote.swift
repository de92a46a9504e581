// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import ServerStore

/// How badly the network and the server behave: once in so many requests; 0 for never.
struct Weather {
  var drops = 0
  var losesAnswers = 0
  var delays = 0
  var duplicates = 0
  var serverErrors = 0
  var asksToWait = 0
  var tooLarge = 0

  static let calm = Weather()
  static let stormy = Weather(
    drops: 12, losesAnswers: 8, delays: 8, duplicates: 8, serverErrors: 20, asksToWait: 25, tooLarge: 10)
}

/// A server's storage as a remote, without a network between, but with everything that a network does to requests.
actor FaultyRemote: Remote {
  private let server: SimulatedServer
  private let login: Login
  private var random: SeededGenerator
  private var weather: Weather
  /// Requests that arrive at the server some time after their sender gave them up.
  private var late: [@Sendable () async -> Void] = []

  init(_ server: SimulatedServer, _ login: Login, seed: UInt64, _ weather: Weather) {
    self.server = server
    self.login = login
    random = SeededGenerator(seed: seed)
    self.weather = weather
  }

  func setWeather(_ weather: Weather) { self.weather = weather }

  /// Lets one late request arrive; the answer reaches nobody.
  func deliverLate() async {
    guard let place = late.indices.randomElement(using: &random) else { return }
    await late.remove(at: place)()
  }

  func logbook() async throws(RemoteError) -> RemoteLogbook {
    try await exchange(items: 0) { [server, login] () async throws(StorageError) in
      try await server.storage.logbook(login)
    }
  }

  func push(_ batch: ReadingBatch, _ run: RunStamp) async throws(RemoteError) -> ReadingAnswer {
    try await exchange(items: batch.readings.count) { [server, login] () async throws(StorageError) in
      try await server.storage.store(batch, login, run)
    }
  }

  func push(_ changes: [RecordChange], _ run: RunStamp) async throws(RemoteError) -> RecordAnswer {
    try await exchange(items: changes.count) { [server, login] () async throws(StorageError) in
      try await server.storage.apply(changes, login, run)
    }
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(RemoteError) -> ChangePage? {
    // Small pages, so that edits and crashes fall between them.
    let few = min(limit, Int.random(in: 1...5, using: &random))
    return try await exchange(items: 1) { [server, login] () async throws(StorageError) in
      try await server.storage.changes(after: cursor, limit: few, login, run)
    }
  }

  func readingDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests {
    try await exchange(items: 0) { [server, login] () async throws(StorageError) in
      try await server.storage.readingDigests(login, run)
    }
  }

  private func happens(_ times: Int) -> Bool { times > 0 && random.once(in: times) }

  private func exchange<Answer>(
    items: Int, _ request: @escaping @Sendable () async throws(StorageError) -> Answer
  ) async throws(RemoteError) -> Answer {
    if happens(weather.drops) { throw .unavailable("the request was lost") }
    if happens(weather.asksToWait) { throw .busy("wait", retryAfterSeconds: 1) }
    if happens(weather.serverErrors) { throw .serverFailure("500") }
    if items > 1, happens(weather.tooLarge) { throw .tooLarge }
    if happens(weather.delays) {
      late.append { _ = try? await request() }
      throw .unavailable("no answer in time")
    }
    let isRepeated = happens(weather.duplicates)
    let result: Result<Answer, StorageError>
    do throws(StorageError) {
      result = .success(try await request())
    } catch {
      result = .failure(error)
    }
    if isRepeated { late.append { _ = try? await request() } }
    if happens(weather.losesAnswers) { throw .unavailable("the answer was lost") }
    switch result {
    case .success(let answer): return answer
    case .failure(let error): throw RemoteError(error)
    }
  }
}

extension RemoteError {
  fileprivate init(_ error: StorageError) {
    self =
      switch error {
      case .nodeReused: .nodeReused
      case .otherLogbook(let id): .otherLogbook(id: id)
      case .positionUnknown: .positionUnknown
      case .tooLarge: .tooLarge
      case .busy: .busy("the storage is busy", retryAfterSeconds: nil)
      case .failed(let detail): .serverFailure(detail)
      }
  }
}
