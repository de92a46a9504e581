// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The functions of PostgreSQL's client library, libpq. It is loaded when the first database is used.
///
/// The program is not linked with it: each start would load it with 20 further libraries, such as Kerberos
/// and LDAP. This would take 13 ms of processor time, while the whole start takes 21 ms. Only this file uses
/// pointers of the library.
struct LibPQ: Sendable {
  fileprivate typealias Connection = OpaquePointer
  fileprivate typealias Result = OpaquePointer
  fileprivate typealias Text = UnsafePointer<CChar>

  fileprivate let connectParams:
    @Sendable @convention(c) (UnsafePointer<Text?>?, UnsafePointer<Text?>?, Int32) -> Connection?
  fileprivate let finish: @Sendable @convention(c) (Connection?) -> Void
  fileprivate let status: @Sendable @convention(c) (Connection?) -> Int32
  fileprivate let errorMessage: @Sendable @convention(c) (Connection?) -> Text?
  fileprivate let socket: @Sendable @convention(c) (Connection?) -> Int32
  fileprivate let setNonblocking: @Sendable @convention(c) (Connection?, Int32) -> Int32
  fileprivate let setNoticeProcessor:
    @Sendable @convention(c) (
      Connection?, @convention(c) (UnsafeMutableRawPointer?, Text?) -> Void, UnsafeMutableRawPointer?
    ) -> UnsafeRawPointer?
  fileprivate let sendQuery: @Sendable @convention(c) (Connection?, Text) -> Int32
  fileprivate let sendQueryParams:
    @Sendable @convention(c) (
      Connection?, Text, Int32, UnsafePointer<UInt32>?, UnsafePointer<UnsafePointer<UInt8>?>?,
      UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
    ) -> Int32
  fileprivate let flush: @Sendable @convention(c) (Connection?) -> Int32
  fileprivate let consumeInput: @Sendable @convention(c) (Connection?) -> Int32
  fileprivate let isBusy: @Sendable @convention(c) (Connection?) -> Int32
  fileprivate let getResult: @Sendable @convention(c) (Connection?) -> Result?
  fileprivate let resultStatus: @Sendable @convention(c) (Result?) -> Int32
  fileprivate let resultErrorField: @Sendable @convention(c) (Result?, Int32) -> Text?
  fileprivate let clear: @Sendable @convention(c) (Result?) -> Void
  fileprivate let countOfRows: @Sendable @convention(c) (Result?) -> Int32
  fileprivate let isNull: @Sendable @convention(c) (Result?, Int32, Int32) -> Int32
  fileprivate let value: @Sendable @convention(c) (Result?, Int32, Int32) -> UnsafePointer<UInt8>?
  fileprivate let length: @Sendable @convention(c) (Result?, Int32, Int32) -> Int32
  fileprivate let parse: @Sendable @convention(c) (Text, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  fileprivate let freeOptions: @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// The libpq of this machine. It is loaded once and never unloaded.
  static let loaded: Swift.Result<LibPQ, Failure> = Swift.Result { () throws(Failure) in try LibPQ() }

  private init() throws(Failure) {
    let name = "libpq.so.5"
    guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
      throw Failure(
        .configuration,
        "\(name): the library of PostgreSQL is missing; install the package libpq5 to use --database")
    }
    func function<Function>(_ symbol: String) throws(Failure) -> Function {
      guard let address = dlsym(library, symbol) else {
        throw Failure(
          .configuration, "\(name) has no function \(symbol); install libpq5 of PostgreSQL 14 or later")
      }
      return unsafeBitCast(address, to: Function.self)
    }
    connectParams = try function("PQconnectdbParams")
    finish = try function("PQfinish")
    status = try function("PQstatus")
    errorMessage = try function("PQerrorMessage")
    socket = try function("PQsocket")
    setNonblocking = try function("PQsetnonblocking")
    setNoticeProcessor = try function("PQsetNoticeProcessor")
    sendQuery = try function("PQsendQuery")
    sendQueryParams = try function("PQsendQueryParams")
    flush = try function("PQflush")
    consumeInput = try function("PQconsumeInput")
    isBusy = try function("PQisBusy")
    getResult = try function("PQgetResult")
    resultStatus = try function("PQresultStatus")
    resultErrorField = try function("PQresultErrorField")
    clear = try function("PQclear")
    countOfRows = try function("PQntuples")
    isNull = try function("PQgetisnull")
    value = try function("PQgetvalue")
    length = try function("PQgetlength")
    parse = try function("PQconninfoParse")
    freeOptions = try function("PQconninfoFree")
  }
}

extension LibPQ {
  /// The options that a connection string states itself, without those of the environment and of service
  /// files.
  ///
  /// - Throws: `Failure` of category `usage` for an invalid text. The message does not contain the text,
  ///   which may include a password.
  func options(of text: String) throws(Failure) -> [String: String] {
    guard let options = parse(text, nil) else {
      throw Failure(
        .usage, "--database: this is not a connection string of PostgreSQL, such as postgresql://host/name")
    }
    defer { freeOptions(options) }
    // Each option is a structure of six texts and a number (`PQconninfoOption` in libpq-fe.h). The first text
    // is its name, the fourth its value. The last option has no name.
    let (valueOffset, stride) = (24, 56)
    var stated: [String: String] = [:]
    var next = options
    while let name = next.load(as: Text?.self) {
      if let value = next.load(fromByteOffset: valueOffset, as: Text?.self) {
        stated[String(cString: name)] = String(cString: value)
      }
      next += stride
    }
    return stated
  }
}

/// A connection to a database. It must be used on one thread at a time, and is closed when this object ends.
final class DatabaseConnection {
  private static let connectionIsOK: Int32 = 0
  private static let (commandIsOK, rowsAreOK, emptyQuery): (Int32, Int32, Int32) = (1, 2, 0)
  /// The fields of an error that contain no value of a row (`PG_DIAG_…` in postgres_ext.h).
  private static let (stateField, tableField, constraintField) = (
    Int32(UInt8(ascii: "C")), Int32(UInt8(ascii: "t")), Int32(UInt8(ascii: "n"))
  )

  private let library: LibPQ
  private let connection: LibPQ.Connection

  /// Connects to the database. It blocks until the connection is open or the time limits of the address have
  /// passed.
  ///
  /// - Throws: `DatabaseError.unreachable`.
  init(_ address: DatabaseAddress) throws(DatabaseError) {
    let library = address.library
    self.library = library
    let options = address.options
    let keys = options.map { strdup($0.key) }
    let values = options.map { strdup($0.value) }
    defer { for text in keys + values { free(text) } }
    let connection = Self.withPointers(keys) { keys in
      Self.withPointers(values) { values in library.connectParams(keys, values, 1) }
    }
    guard let connection else { throw .unreachable("no memory for a connection") }
    guard library.status(connection) == Self.connectionIsOK else {
      let message = library.errorMessage(connection).map { String(cString: $0) } ?? ""
      library.finish(connection)
      throw .unreachable(Self.firstLine(of: message))
    }
    self.connection = connection
    _ = library.setNoticeProcessor(connection, { _, _ in }, nil)
    guard library.setNonblocking(connection, 1) == 0 else { throw .unreachable("the socket blocks") }
  }

  deinit { library.finish(connection) }

  /// Runs SQL statements without parameters, separated by semicolons.
  ///
  /// - Throws: `DatabaseError`; `lost` if no response comes before the deadline. The connection must not be
  ///   used after that.
  func run(_ script: String, by deadline: ContinuousClock.Instant) throws(DatabaseError) {
    guard library.sendQuery(connection, script) == 1 else { throw .lost }
    _ = try results(by: deadline)
  }

  /// Runs one SQL statement with parameters. Parameters and results have PostgreSQL's binary format.
  ///
  /// - Throws: as `run`.
  func rows(
    _ statement: String, _ parameters: [SQLValue], by deadline: ContinuousClock.Instant
  ) throws(DatabaseError) -> DatabaseRows {
    let types = parameters.map(\.type)
    let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: parameters.count)
    // One buffer has the bytes of all parameters. Even an empty parameter needs a pointer that is not NULL.
    var buffer: [UInt8] = []
    buffer.reserveCapacity(parameters.reduce(1) { $0 + ($1.bytes?.count ?? 0) })
    var starts: [Int?] = []
    for parameter in parameters {
      starts.append(parameter.bytes == nil ? nil : buffer.count)
      if let bytes = parameter.bytes { buffer += bytes }
    }
    buffer.append(0)
    let sent = buffer.withUnsafeBufferPointer { buffer in
      let pointers = starts.map { start in start.flatMap { buffer.baseAddress?.advanced(by: $0) } }
      return library.sendQueryParams(
        connection, statement, Int32(parameters.count), types, pointers, lengths, formats, 1)
    }
    guard sent == 1, let rows = try results(by: deadline) else { throw .lost }
    return rows
  }
}

extension DatabaseConnection {
  /// Sends the buffered data, and waits for all results. Returns the last one.
  private func results(by deadline: ContinuousClock.Instant) throws(DatabaseError) -> DatabaseRows? {
    while true {
      let pending = library.flush(connection)
      guard pending >= 0 else { throw .lost }
      if pending == 0 { break }
      // The server may send results while it still receives data, so both directions are handled.
      let events = try wait(for: Int16(POLLIN | POLLOUT), by: deadline)
      if events & Int16(POLLIN) != 0, library.consumeInput(connection) != 1 { throw .lost }
    }
    var last: DatabaseRows?
    var fault: DatabaseError?
    while true {
      while library.isBusy(connection) == 1 {
        _ = try wait(for: Int16(POLLIN), by: deadline)
        guard library.consumeInput(connection) == 1 else { throw .lost }
      }
      guard let result = library.getResult(connection) else { break }
      let rows = DatabaseRows(library, result)
      switch library.resultStatus(result) {
      case Self.commandIsOK, Self.rowsAreOK, Self.emptyQuery: last = rows
      default: fault = fault ?? error(in: result)
      }
    }
    if let fault { throw fault }
    guard library.status(connection) == Self.connectionIsOK else { throw .lost }
    return last
  }

  private func error(in result: LibPQ.Result) -> DatabaseError {
    func field(_ code: Int32) -> String? {
      library.resultErrorField(result, code).map { String(cString: $0) }
    }
    guard let state = field(Self.stateField) else { return .lost }
    let object = [field(Self.tableField), field(Self.constraintField)].compactMap(\.self)
    return .refused(state: state, object: object.joined(separator: " "))
  }

  private func wait(
    for events: Int16, by deadline: ContinuousClock.Instant
  ) throws(DatabaseError) -> Int16 {
    var entry = pollfd(fd: library.socket(connection), events: events, revents: 0)
    guard entry.fd >= 0 else { throw .lost }
    while true {
      let left = deadline - .now
      guard left > .zero else { throw .lost }
      let milliseconds = Int32(clamping: Int(left / .milliseconds(1)) + 1)
      let count = poll(&entry, 1, milliseconds)
      if count > 0 { return entry.revents }
      guard count == 0 || errno == EINTR else { throw .lost }
    }
  }

  private static func withPointers<Value>(
    _ texts: [UnsafeMutablePointer<CChar>?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
  ) -> Value {
    let pointers = texts.map { text in text.map { UnsafePointer($0) } } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
  }

  /// The first line of libpq's message, which names host and reason. It never contains a password.
  private static func firstLine(of message: String) -> String {
    String((message.split(separator: "\n").first ?? "no reason given").prefix(300))
  }
}

/// The rows of a result, with values in PostgreSQL's binary format. It must be used on one thread at a time.
final class DatabaseRows {
  private let library: LibPQ
  private let result: LibPQ.Result
  /// The number of rows.
  let count: Int

  fileprivate init(_ library: LibPQ, _ result: LibPQ.Result) {
    self.library = library
    self.result = result
    count = Int(library.countOfRows(result))
  }

  deinit { library.clear(result) }

  func isNull(_ row: Int, _ column: Int) -> Bool { library.isNull(result, Int32(row), Int32(column)) == 1 }

  /// The whole number in a column, of any integer type. A boolean is returned as 0 or 1.
  ///
  /// - Throws: `DatabaseError.unexpected` for NULL and for another type.
  func integer(_ row: Int, _ column: Int) throws(DatabaseError) -> Int64 {
    let bytes = try self.bytes(row, column)
    switch bytes.count {
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: return Int64(bytes[0])
    default: throw .unexpected("column \(column) is not a whole number")
    }
  }

  /// The number in a column of type `double precision`; nil for NULL.
  func number(_ row: Int, _ column: Int) throws(DatabaseError) -> Double? {
    if isNull(row, column) { return nil }
    let bytes = try self.bytes(row, column)
    guard bytes.count == 8 else { throw .unexpected("column \(column) is not a double") }
    return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
  }

  /// The text in a column. Bytes are decoded as UTF-8.
  func text(_ row: Int, _ column: Int) throws(DatabaseError) -> String {
    String(decoding: try bytes(row, column), as: UTF8.self)
  }

  /// The text in a column; nil for NULL.
  func optionalText(_ row: Int, _ column: Int) throws(DatabaseError) -> String? {
    isNull(row, column) ? nil : try text(row, column)
  }

  func data(_ row: Int, _ column: Int) throws(DatabaseError) -> [UInt8] { Array(try bytes(row, column)) }

  /// The bytes in a column, which are valid as long as this object exists. To save time, since a page has
  /// more than 100,000 values, `isNull` is called only for values without bytes.
  private func bytes(_ row: Int, _ column: Int) throws(DatabaseError) -> UnsafeRawBufferPointer {
    guard row < count else { throw .unexpected("row \(row) is missing") }
    let length = Int(library.length(result, Int32(row), Int32(column)))
    if length == 0, isNull(row, column) { throw .unexpected("column \(column) is NULL") }
    return UnsafeRawBufferPointer(start: library.value(result, Int32(row), Int32(column)), count: length)
  }
}
