// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The limits of the connections to a database.
package struct PoolLimits: Hashable, Sendable {
  /// The maximum number of connections of this process.
  package var connections = 8
  /// The time for which a request waits for a connection; then it is answered as busy.
  package var acquireTime = Duration.seconds(5)
  /// The time limit of a request on a connection, with its retries.
  package var requestTime = Duration.seconds(30)
  /// The time for which a statement waits for a lock, in milliseconds.
  package var lockMilliseconds = 5000

  /// The maximum number of further connections, for logins.
  static let maxLoginConnections = 2

  /// The maximum number of connections of this process, with those for logins.
  ///
  /// - Parameter clusters: the number of databases besides that with the logins.
  package func allConnections(clusters: Int) -> Int {
    connections * (1 + clusters) + min(connections, Self.maxLoginConnections)
  }

  /// Limits for a server with 32 concurrent requests.
  package init() {}
}

/// Figures of the connections to a database since the start.
struct PoolFigures: Sendable {
  /// Connections that are in use or idle.
  var connections = 0
  /// Connections in use.
  var busy = 0
  /// Requests that wait for a connection.
  var waiting = 0
  /// Requests that waited in vain.
  var timedOut = 0
  /// Transactions that ended, and their time with all retries.
  var transactions = 0
  var time = Duration.zero
  /// Transactions that were repeated.
  var retries = 0
  /// Transactions that waited too long for a lock.
  var lockTimeouts = 0
  /// Connections that were lost or could not be made.
  var lostConnections = 0
  /// The statements of these transactions.
  var statements = StatementTimes()
}

/// The connections of this process to a database, each with a separate thread that may block.
struct ConnectionPool: Sendable {
  /// Which connections are free, and which requests wait.
  let queue: PoolQueue
  private let limits: PoolLimits
  private let faults: FaultLog

  /// - Parameters:
  ///   - address: where connections are made, at the first requests.
  ///   - faults: what an administrator must repair.
  init(_ address: DatabaseAddress, _ limits: PoolLimits, _ faults: FaultLog = FaultLog { _ in }) {
    queue = PoolQueue(address, maxConnections: limits.connections)
    self.limits = limits
    self.faults = faults
  }

  /// Runs a transaction. It is repeated after a serialisation failure, a deadlock or a lost connection.
  ///
  /// - Throws: `ServiceError` of the work; `busy` without a connection in time, or if the commit is uncertain.
  func run<Value: Sendable>(
    _ mode: TransactionMode, _ work: @escaping @Sendable (DatabaseTransaction) throws -> Value
  ) async throws(ServiceError) -> Value {
    guard let connection = await connection() else {
      throw .busy("the storage is busy; try again", retryAfterSeconds: 1)
    }
    let start = ContinuousClock.now
    let outcome = await connection.run(mode, limits, work)
    await queue.release(connection, time: ContinuousClock.now - start, outcome.work)
    switch outcome.result {
    case .success(let value): return value
    case .failure(let error as ServiceError): throw error
    case .failure(let error as DatabaseError):
      faults.note(error)
      throw error.serviceError
    case .failure(let error): throw DatabaseError.unexpected("\(type(of: error))").serviceError
    }
  }

  /// Closes every connection, after the last request.
  func close() async { await queue.close() }

  /// A free connection; nil if there is none in time, or if the request is cancelled.
  private func connection() async -> PooledConnection? {
    switch await queue.take() {
    case .connection(let connection): return connection
    case .waiter(let number):
      return await withTaskGroup(of: Void.self) { group in
        group.addTask {
          do { try await Task.sleep(for: limits.acquireTime) } catch {
            // The request has a connection, or was cancelled.
          }
          await queue.giveUp(number)
        }
        let connection = await queue.wait(number)
        group.cancelAll()
        return connection
      }
    }
  }
}

/// The free connections of a pool, and the requests that wait for one in the order of their arrival.
actor PoolQueue {
  enum Place {
    case connection(PooledConnection)
    /// The number of a request that waits.
    case waiter(Int)
  }

  private let address: DatabaseAddress
  private let maxConnections: Int
  private var idle: [PooledConnection] = []
  private var waiters: [Int] = []
  private var continuations: [Int: CheckedContinuation<PooledConnection?, Never>] = [:]
  /// Connections for requests that do not wait yet.
  private var granted: [Int: PooledConnection] = [:]
  private var nextNumber = 0
  private var isClosed = false
  private(set) var figures = PoolFigures()

  init(_ address: DatabaseAddress, maxConnections: Int) {
    self.address = address
    self.maxConnections = maxConnections
  }

  func take() -> Place {
    if let connection = idle.popLast() {
      figures.busy += 1
      return .connection(connection)
    }
    if figures.connections < maxConnections {
      figures.connections += 1
      figures.busy += 1
      return .connection(PooledConnection(address))
    }
    nextNumber += 1
    waiters.append(nextNumber)
    figures.waiting = waiters.count
    return .waiter(nextNumber)
  }

  /// Waits for a connection; nil after `giveUp`.
  func wait(_ number: Int) async -> PooledConnection? {
    if let connection = granted.removeValue(forKey: number) { return connection }
    guard waiters.contains(number) else { return nil }
    return await withCheckedContinuation { continuations[number] = $0 }
  }

  /// Ends the wait of a request that has no connection.
  func giveUp(_ number: Int) {
    guard let place = waiters.firstIndex(of: number) else { return }
    waiters.remove(at: place)
    figures.waiting = waiters.count
    figures.timedOut += 1
    continuations.removeValue(forKey: number)?.resume(returning: nil)
  }

  /// Returns a connection after a transaction.
  func release(_ connection: PooledConnection, time: Duration, _ work: TransactionWork) {
    figures.transactions += 1
    figures.time += time
    figures.retries += work.retries
    figures.lostConnections += work.lostConnections
    figures.lockTimeouts += work.isLockTimeout ? 1 : 0
    figures.statements.add(work.statements)
    if let next = waiters.first {
      waiters.removeFirst()
      figures.waiting = waiters.count
      if let continuation = continuations.removeValue(forKey: next) {
        continuation.resume(returning: connection)
      } else {
        granted[next] = connection
      }
      return
    }
    figures.busy -= 1
    if isClosed {
      figures.connections -= 1
    } else {
      idle.append(connection)
    }
  }

  func close() {
    isClosed = true
    for connection in idle { connection.close() }
    figures.connections -= idle.count
    idle = []
  }
}

/// How a transaction begins.
enum TransactionMode: Sendable {
  /// Reads one state of the database.
  ///
  /// - Parameter logbook: the logbook whose rows are visible.
  case reading(logbook: Int64)
  /// Writes, after it locked the logbook's counter: no other transaction assigns numbers until it ends.
  case changing(logbook: Int64)
  /// Writes the content of attachments, which has no numbers, after it locked the logbook's total of contents.
  case storingContent(logbook: Int64)
  /// Uses tables without rows of a logbook.
  case directory

  /// The statements that begin it. All settings end with the transaction, so that a pooler may give the next one
  /// another connection.
  func script(_ limits: PoolLimits) -> String {
    let statement = Int(limits.requestTime / .milliseconds(1))
    let level =
      if case .reading = self { "REPEATABLE READ READ ONLY" } else { "READ COMMITTED READ WRITE" }
    var script = """
      BEGIN ISOLATION LEVEL \(level); SET LOCAL statement_timeout = \(statement); \
      SET LOCAL lock_timeout = \(limits.lockMilliseconds); \
      SET LOCAL idle_in_transaction_session_timeout = \(statement); \(Self.plans)
      """
    if let logbook { script += "; SET LOCAL glucoport.logbook = '\(logbook)'" }
    switch self {
    case .changing(let logbook):
      script += "; SELECT 1 FROM glucoport.counter WHERE logbook = \(logbook) FOR UPDATE"
    case .storingContent(let logbook):
      script += "; SELECT 1 FROM glucoport.contents WHERE logbook = \(logbook) FOR UPDATE"
    case .reading, .directory: break
    }
    return script
  }

  /// Every statement reads its rows by an index in the order of that index. Where the statistics of a table do not know a
  /// logbook yet, the planner takes it for empty: it would read the whole logbook and sort it. A sort that remains makes a
  /// statement seem so expensive that it would be compiled.
  static let plans =
    "SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off"

  private var logbook: Int64? {
    switch self {
    case .reading(let logbook), .changing(let logbook), .storingContent(let logbook): logbook
    case .directory: nil
    }
  }

  var writes: Bool { if case .reading = self { false } else { true } }

  /// The kind of the statements that begin it.
  var kind: String {
    switch self {
    case .changing: StatementTimes.lock + "counter"
    case .storingContent: StatementTimes.lock + "contents"
    case .reading, .directory: "begin"
    }
  }
}

/// An open transaction, on the thread of its connection.
struct DatabaseTransaction {
  private let connection: DatabaseConnection
  private let deadline: ContinuousClock.Instant
  private let stopwatch: Stopwatch

  init(_ connection: DatabaseConnection, by deadline: ContinuousClock.Instant, _ stopwatch: Stopwatch) {
    self.connection = connection
    self.deadline = deadline
    self.stopwatch = stopwatch
  }

  /// Runs one statement with parameters.
  @discardableResult
  func rows(_ statement: String, _ parameters: SQLValue...) throws(DatabaseError) -> DatabaseRows {
    try rows(statement, parameters)
  }

  /// Runs one statement with parameters.
  @discardableResult
  func rows(_ statement: String, _ parameters: [SQLValue]) throws(DatabaseError) -> DatabaseRows {
    try stopwatch.time(stopwatch.kind(of: statement)) { () throws(DatabaseError) in
      try connection.rows(statement, parameters, by: deadline)
    }
  }

  /// Runs statements without parameters.
  func run(_ script: String) throws(DatabaseError) {
    try stopwatch.time(stopwatch.kind(of: script)) { () throws(DatabaseError) in
      try connection.run(script, by: deadline)
    }
  }
}

/// What the attempts of one transaction took.
struct TransactionWork: Sendable {
  var retries = 0
  var lostConnections = 0
  var isLockTimeout = false
  var statements = StatementTimes()
}

/// Measures the statements of one connection, on its thread.
final class Stopwatch {
  private static let maxKinds = 200

  private(set) var times = StatementTimes()
  private var kinds: [String: String] = [:]

  /// The kind of a statement, which is mostly known: a request has up to ten.
  func kind(of statement: String) -> String {
    if let known = kinds[statement] { return known }
    let kind = StatementTimes.kind(of: statement)
    if kinds.count >= Self.maxKinds { kinds = [:] }
    kinds[statement] = kind
    return kind
  }

  /// Runs a statement of this kind, and adds its time also if it fails.
  func time<Value>(_ kind: String, _ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
    let start = ContinuousClock.now
    defer { times.add(ContinuousClock.now - start, kind) }
    return try body()
  }

  /// The times since the last call.
  func lap() -> StatementTimes {
    defer { times = StatementTimes() }
    return times
  }
}

/// One connection of a pool with its thread.
struct PooledConnection: Sendable {
  struct Outcome<Value: Sendable>: Sendable {
    let result: Result<Value, any Error>
    let work: TransactionWork
  }

  private let thread: BackgroundWorker<DatabaseSession>

  init(_ address: DatabaseAddress) { thread = BackgroundWorker(DatabaseSession(address), name: "database") }

  func run<Value: Sendable>(
    _ mode: TransactionMode, _ limits: PoolLimits,
    _ work: @escaping @Sendable (DatabaseTransaction) throws -> Value
  ) async -> Outcome<Value> {
    await withCheckedContinuation { continuation in
      thread.begin { continuation.resume(returning: $0.run(mode, limits, work)) }
    }
  }

  func close() { thread.begin { $0.close() } }
}

/// A connection that is made when it is needed, and its transactions. It is used on one thread.
private struct DatabaseSession {
  private static let maxRetries = 3
  private static let pauseMicroseconds: UInt32 = 20_000

  private var connection: DatabaseConnection?
  private let address: DatabaseAddress
  private let stopwatch = Stopwatch()

  init(_ address: DatabaseAddress) { self.address = address }

  mutating func close() { connection = nil }

  /// Runs a transaction, and repeats it while that can help.
  mutating func run<Value>(
    _ mode: TransactionMode, _ limits: PoolLimits, _ body: (DatabaseTransaction) throws -> Value
  ) -> PooledConnection.Outcome<Value> {
    let deadline = ContinuousClock.now + limits.requestTime
    var work = TransactionWork()
    let result = Result { try attempts(mode, limits, by: deadline, &work, body) }
    if case .failure(DatabaseError.refused(state: "55P03", _)) = result { work.isLockTimeout = true }
    work.statements = stopwatch.lap()
    return PooledConnection.Outcome(result: result, work: work)
  }

  private mutating func attempts<Value>(
    _ mode: TransactionMode, _ limits: PoolLimits, by deadline: ContinuousClock.Instant,
    _ work: inout TransactionWork, _ body: (DatabaseTransaction) throws -> Value
  ) throws -> Value {
    while true {
      do {
        return try once(mode, limits, by: deadline, body)
      } catch let error as DatabaseError where error.isTransient || error.endsConnection {
        if error.endsConnection {
          connection = nil
          work.lostConnections += 1
        }
        guard error.isTransient, work.retries < Self.maxRetries, ContinuousClock.now < deadline else {
          throw error
        }
        work.retries += 1
        // Transactions that met once shall not meet again.
        usleep(UInt32.random(in: 1000...Self.pauseMicroseconds) * UInt32(work.retries))
      }
    }
  }

  private mutating func once<Value>(
    _ mode: TransactionMode, _ limits: PoolLimits, by deadline: ContinuousClock.Instant,
    _ work: (DatabaseTransaction) throws -> Value
  ) throws -> Value {
    let connection = try self.connection ?? DatabaseConnection(address)
    self.connection = connection
    let value: Value
    do {
      try stopwatch.time(mode.kind) { () throws(DatabaseError) in
        try connection.run(mode.script(limits), by: deadline)
      }
      value = try work(DatabaseTransaction(connection, by: deadline, stopwatch))
    } catch {
      if (error as? DatabaseError)?.endsConnection != true { rollBack(connection) }
      throw error
    }
    do {
      try stopwatch.time("commit") { () throws(DatabaseError) in try connection.run("COMMIT", by: deadline) }
    } catch {
      // A database that stops can end the session of a transaction that it committed.
      if error.endsConnection { throw mode.writes ? DatabaseError.commitUnknown : .lost }
      rollBack(connection)
      throw error
    }
    return value
  }

  private mutating func rollBack(_ connection: DatabaseConnection) {
    do {
      try connection.run("ROLLBACK", by: .now + .seconds(5))
    } catch {
      self.connection = nil
    }
  }
}
