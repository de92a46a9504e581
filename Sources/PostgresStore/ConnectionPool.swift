// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The limits of the connections to a database.
package struct PoolLimits: Hashable, Sendable {
  /// The maximum number of connections of this process.
  package var connections = 8
  /// How long a request waits for a connection. After this time, the server answers that it is busy.
  package var acquireTime = Duration.seconds(5)
  /// The time limit of a request on a connection, including its retries.
  package var requestTime = Duration.seconds(30)
  /// How long an SQL statement waits for a lock, in milliseconds.
  package var lockMilliseconds = 5000

  /// The maximum number of additional connections that are only used for logins.
  static let maxLoginConnections = 2

  /// The maximum number of connections of this process, including those for logins.
  ///
  /// - Parameter clusters: the number of databases in addition to the one with the logins.
  package func allConnections(clusters: Int) -> Int {
    connections * (1 + clusters) + min(connections, Self.maxLoginConnections)
  }

  /// The default limits, for a server that handles 32 requests at the same time.
  package init() {}
}

/// Measurements of the connections to a database since the server started.
struct PoolFigures: Sendable {
  /// The number of open connections, both used and idle.
  var connections = 0
  /// The number of connections in use.
  var busy = 0
  /// The number of requests that are waiting for a connection.
  var waiting = 0
  /// The number of requests that waited for a connection until their time limit.
  var timedOut = 0
  /// The number of transactions that have ended, and their total time including all retries.
  var transactions = 0
  var time = Duration.zero
  /// The number of repeated attempts of transactions.
  var retries = 0
  /// The number of transactions that waited too long for a lock.
  var lockTimeouts = 0
  /// The number of connections that were lost or could not be opened.
  var lostConnections = 0
  /// The times of the SQL statements in the ended transactions.
  var statements = StatementTimes()
}

/// The connections of this process to a database. Each has a separate thread, which may block.
struct ConnectionPool: Sendable {
  /// The free connections, and the requests that wait for one.
  let queue: PoolQueue
  private let limits: PoolLimits
  private let faults: FaultLog

  /// - Parameters:
  ///   - address: the database. Connections are opened by the first requests.
  ///   - faults: receives the errors that an administrator must repair.
  init(_ address: DatabaseAddress, _ limits: PoolLimits, _ faults: FaultLog = FaultLog { _ in }) {
    queue = PoolQueue(address, maxConnections: limits.connections)
    self.limits = limits
    self.faults = faults
  }

  /// Runs a transaction. After a serialisation failure, a deadlock or a lost connection, it is repeated.
  ///
  /// - Throws: `ServiceError` of `work`; `busy` if no connection is free in time, or if it is unknown whether
  ///   the commit succeeded.
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
      faults.log(error)
      throw error.serviceError
    case .failure(let error): throw DatabaseError.unexpected("\(type(of: error))").serviceError
    }
  }

  /// Closes all connections. It must be called after the last request.
  func close() async { await queue.close() }

  /// A free connection; nil if none becomes free in time, or if the request is cancelled.
  private func connection() async -> PooledConnection? {
    switch await queue.requestConnection() {
    case .connection(let connection): return connection
    case .waiter(let number):
      return await withTaskGroup(of: Void.self) { group in
        group.addTask {
          do { try await Task.sleep(for: limits.acquireTime) } catch {
            // The sleep ended early, because the request got a connection or was cancelled.
          }
          await queue.cancel(number)
        }
        let connection = await queue.wait(number)
        group.cancelAll()
        return connection
      }
    }
  }
}

/// The free connections of a pool, and the requests that wait for one, in the order of their arrival.
actor PoolQueue {
  enum Ticket {
    case connection(PooledConnection)
    /// The request must wait. The number identifies it.
    case waiter(Int)
  }

  private let address: DatabaseAddress
  private let maxConnections: Int
  private var idle: [PooledConnection] = []
  private var waiters: [Int] = []
  private var continuations: [Int: CheckedContinuation<PooledConnection?, Never>] = [:]
  /// Connections that were given to requests before they called `wait`, by the numbers of the requests.
  private var granted: [Int: PooledConnection] = [:]
  private var nextNumber = 0
  private var isClosed = false
  private(set) var figures = PoolFigures()

  init(_ address: DatabaseAddress, maxConnections: Int) {
    self.address = address
    self.maxConnections = maxConnections
  }

  func requestConnection() -> Ticket {
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

  /// Waits until the request gets a connection; nil after `cancel`.
  func wait(_ number: Int) async -> PooledConnection? {
    if let connection = granted.removeValue(forKey: number) { return connection }
    guard waiters.contains(number) else { return nil }
    return await withCheckedContinuation { continuations[number] = $0 }
  }

  /// Ends the wait of a request that has not got a connection.
  func cancel(_ number: Int) {
    guard let place = waiters.firstIndex(of: number) else { return }
    waiters.remove(at: place)
    figures.waiting = waiters.count
    figures.timedOut += 1
    continuations.removeValue(forKey: number)?.resume(returning: nil)
  }

  /// Makes a connection free again after a transaction, and adds the measurements of the transaction.
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

/// The kinds of transactions, which begin in different ways.
enum TransactionMode: Sendable {
  /// Reads only. All SQL statements see the same state of the database.
  ///
  /// - Parameter logbook: the number of the logbook whose rows are visible.
  case reading(logbook: Int64)
  /// Writes to a logbook. First it locks the logbook's counter, so that no other transaction assigns sequence
  /// numbers until this transaction ends.
  case changing(logbook: Int64)
  /// Writes the content of attachments, which has no sequence numbers. First it locks the row with the total
  /// size of the logbook's attachments, so that no other transaction changes this size before it ends.
  case storingContent(logbook: Int64)
  /// Uses only tables that belong to no single logbook.
  case directory

  /// The SQL statements that begin the transaction. All settings apply only to this transaction, since a
  /// pooler may use another connection for the next one.
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

  /// Settings of the query planner. Each SQL statement should read its rows by an index, in the order of the
  /// index. If the statistics of a table do not contain a logbook yet, the planner assumes that it is empty.
  /// Without these settings it would read and sort the whole logbook. A sort that is unavoidable then seems
  /// so expensive that PostgreSQL would compile the statement, so JIT is off.
  static let plans =
    "SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off"

  private var logbook: Int64? {
    switch self {
    case .reading(let logbook), .changing(let logbook), .storingContent(let logbook): logbook
    case .directory: nil
    }
  }

  var writes: Bool { if case .reading = self { false } else { true } }

  /// The kind under which `StatementTimes` measures the SQL statements that begin the transaction.
  var kind: String {
    switch self {
    case .changing: StatementTimes.lock + "counter"
    case .storingContent: StatementTimes.lock + "contents"
    case .reading, .directory: "begin"
    }
  }
}

/// An open transaction. It is used on the thread of its connection.
struct DatabaseTransaction {
  private let connection: DatabaseConnection
  private let deadline: ContinuousClock.Instant
  private let stopwatch: Stopwatch

  init(_ connection: DatabaseConnection, by deadline: ContinuousClock.Instant, _ stopwatch: Stopwatch) {
    self.connection = connection
    self.deadline = deadline
    self.stopwatch = stopwatch
  }

  /// Runs one SQL statement with parameters.
  @discardableResult
  func rows(_ statement: String, _ parameters: SQLValue...) throws(DatabaseError) -> DatabaseRows {
    try rows(statement, parameters)
  }

  /// Runs one SQL statement with parameters.
  @discardableResult
  func rows(_ statement: String, _ parameters: [SQLValue]) throws(DatabaseError) -> DatabaseRows {
    try stopwatch.time(stopwatch.kind(of: statement)) { () throws(DatabaseError) in
      try connection.rows(statement, parameters, by: deadline)
    }
  }

  /// Runs SQL statements without parameters, separated by semicolons.
  func run(_ script: String) throws(DatabaseError) {
    try stopwatch.time(stopwatch.kind(of: script)) { () throws(DatabaseError) in
      try connection.run(script, by: deadline)
    }
  }
}

/// Measurements of one transaction over all its attempts.
struct TransactionWork: Sendable {
  var retries = 0
  var lostConnections = 0
  var isLockTimeout = false
  var statements = StatementTimes()
}

/// Measures the SQL statements of one connection. It is used on the connection's thread.
final class Stopwatch {
  private static let maxKinds = 200

  private(set) var times = StatementTimes()
  private var kinds: [String: String] = [:]

  /// The kind of an SQL statement, from a cache: a request has up to ten statements, which are usually known.
  func kind(of statement: String) -> String {
    if let known = kinds[statement] { return known }
    let kind = StatementTimes.kind(of: statement)
    if kinds.count >= Self.maxKinds { kinds = [:] }
    kinds[statement] = kind
    return kind
  }

  /// Measures `body` as an SQL statement of this kind, even if it fails.
  func time<Value>(_ kind: String, _ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
    let start = ContinuousClock.now
    defer { times.add(ContinuousClock.now - start, kind) }
    return try body()
  }

  /// The times that were measured since the last call.
  func lap() -> StatementTimes {
    defer { times = StatementTimes() }
    return times
  }
}

/// One connection of a pool with its thread.
struct PooledConnection: Sendable {
  struct RunResult<Value: Sendable>: Sendable {
    let result: Result<Value, any Error>
    let work: TransactionWork
  }

  private let thread: BackgroundWorker<DatabaseSession>

  init(_ address: DatabaseAddress) { thread = BackgroundWorker(DatabaseSession(address), name: "database") }

  func run<Value: Sendable>(
    _ mode: TransactionMode, _ limits: PoolLimits,
    _ work: @escaping @Sendable (DatabaseTransaction) throws -> Value
  ) async -> RunResult<Value> {
    await withCheckedContinuation { continuation in
      thread.begin { continuation.resume(returning: $0.run(mode, limits, work)) }
    }
  }

  func close() { thread.begin { $0.close() } }
}

/// A connection that is opened when it is first needed, and runs transactions. It is used on one thread.
private struct DatabaseSession {
  private static let maxRetries = 3
  private static let pauseMicroseconds: UInt32 = 20_000

  private var connection: DatabaseConnection?
  private let address: DatabaseAddress
  private let stopwatch = Stopwatch()

  init(_ address: DatabaseAddress) { self.address = address }

  mutating func close() { connection = nil }

  /// Runs a transaction. It is repeated while the error is transient and time is left.
  mutating func run<Value>(
    _ mode: TransactionMode, _ limits: PoolLimits, _ body: (DatabaseTransaction) throws -> Value
  ) -> PooledConnection.RunResult<Value> {
    let deadline = ContinuousClock.now + limits.requestTime
    var work = TransactionWork()
    let result = Result { try attempts(mode, limits, by: deadline, &work, body) }
    if case .failure(DatabaseError.refused(state: "55P03", _)) = result { work.isLockTimeout = true }
    work.statements = stopwatch.lap()
    return PooledConnection.RunResult(result: result, work: work)
  }

  private mutating func attempts<Value>(
    _ mode: TransactionMode, _ limits: PoolLimits, by deadline: ContinuousClock.Instant,
    _ work: inout TransactionWork, _ body: (DatabaseTransaction) throws -> Value
  ) throws -> Value {
    while true {
      do {
        return try runOnce(mode, limits, by: deadline, body)
      } catch let error as DatabaseError where error.isTransient || error.endsConnection {
        if error.endsConnection {
          connection = nil
          work.lostConnections += 1
        }
        guard error.isTransient, work.retries < Self.maxRetries, ContinuousClock.now < deadline else {
          throw error
        }
        work.retries += 1
        // Waits for a random time, so that two transactions that were in conflict are not repeated at the
        // same time.
        usleep(UInt32.random(in: 1000...Self.pauseMicroseconds) * UInt32(work.retries))
      }
    }
  }

  private mutating func runOnce<Value>(
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
      // A database that is shutting down can end the session after it committed the transaction, so it is
      // unknown whether the changes were stored.
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
