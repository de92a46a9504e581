// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The functions of libdbus-1 that are used, loaded when a Bluetooth command runs, so that other commands do
/// not need the library. All have a fixed number of arguments, since Swift cannot call variadic C functions.
///
/// Pointers to memory of libdbus are used only in this file.
private struct Functions {
  typealias Pointer = UnsafeMutableRawPointer
  typealias Text = UnsafePointer<CChar>

  let errorInit: @convention(c) (Pointer) -> Void
  let errorFree: @convention(c) (Pointer) -> Void
  let openConnection: @convention(c) (Text, Pointer) -> Pointer?
  let setExit: @convention(c) (Pointer, UInt32) -> Void
  let close: @convention(c) (Pointer) -> Void
  let unref: @convention(c) (Pointer) -> Void
  let send: @convention(c) (Pointer, Pointer, UnsafeMutablePointer<UInt32>?) -> UInt32
  let readWrite: @convention(c) (Pointer, Int32) -> UInt32
  let pop: @convention(c) (Pointer) -> Pointer?
  let descriptor: @convention(c) (Pointer, UnsafeMutablePointer<Int32>) -> UInt32
  let newCall: @convention(c) (Text?, Text, Text?, Text) -> Pointer?
  let newAnswer: @convention(c) (Pointer) -> Pointer?
  let newError: @convention(c) (Pointer, Text, Text?) -> Pointer?
  let unrefMessage: @convention(c) (Pointer) -> Void
  let type: @convention(c) (Pointer) -> Int32
  let path: @convention(c) (Pointer) -> Text?
  let interface: @convention(c) (Pointer) -> Text?
  let member: @convention(c) (Pointer) -> Text?
  let errorName: @convention(c) (Pointer) -> Text?
  let replySerial: @convention(c) (Pointer) -> UInt32
  let iterate: @convention(c) (Pointer, Pointer) -> UInt32
  let iterateAppending: @convention(c) (Pointer, Pointer) -> Void
  let argumentType: @convention(c) (Pointer) -> Int32
  let elementType: @convention(c) (Pointer) -> Int32
  let recurse: @convention(c) (Pointer, Pointer) -> Void
  let getBasic: @convention(c) (Pointer, Pointer) -> Void
  let next: @convention(c) (Pointer) -> UInt32
  let appendBasic: @convention(c) (Pointer, Int32, Pointer) -> UInt32
  let open: @convention(c) (Pointer, Int32, Text?, Pointer) -> UInt32
  let closeContainer: @convention(c) (Pointer, Pointer) -> UInt32

  /// - Throws: `Failure` of category `.unavailable` if the library is not installed.
  init() throws(Failure) {
    guard let library = dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL) else {
      throw Failure(
        .unavailable,
        "Bluetooth needs the library libdbus-1.so.3; install it: sudo apt install libdbus-1-3 bluez")
    }
    var missing = ""
    func load<Function>(_ name: String, _: Function.Type = Function.self) -> Function? {
      guard let symbol = dlsym(library, "dbus_" + name) else {
        missing = name
        return nil
      }
      return unsafeBitCast(symbol, to: Function.self)
    }
    guard let errorInit: @convention(c) (Pointer) -> Void = load("error_init"),
      let errorFree: @convention(c) (Pointer) -> Void = load("error_free"),
      let openConnection: @convention(c) (Text, Pointer) -> Pointer? = load("connection_open_private"),
      let setExit: @convention(c) (Pointer, UInt32) -> Void = load("connection_set_exit_on_disconnect"),
      let close: @convention(c) (Pointer) -> Void = load("connection_close"),
      let unref: @convention(c) (Pointer) -> Void = load("connection_unref"),
      let send: @convention(c) (Pointer, Pointer, UnsafeMutablePointer<UInt32>?) -> UInt32 = load(
        "connection_send"),
      let readWrite: @convention(c) (Pointer, Int32) -> UInt32 = load("connection_read_write"),
      let pop: @convention(c) (Pointer) -> Pointer? = load("connection_pop_message"),
      let descriptor: @convention(c) (Pointer, UnsafeMutablePointer<Int32>) -> UInt32 = load(
        "connection_get_unix_fd"),
      let newCall: @convention(c) (Text?, Text, Text?, Text) -> Pointer? = load("message_new_method_call"),
      let newAnswer: @convention(c) (Pointer) -> Pointer? = load("message_new_method_return"),
      let newError: @convention(c) (Pointer, Text, Text?) -> Pointer? = load("message_new_error"),
      let unrefMessage: @convention(c) (Pointer) -> Void = load("message_unref"),
      let type: @convention(c) (Pointer) -> Int32 = load("message_get_type"),
      let path: @convention(c) (Pointer) -> Text? = load("message_get_path"),
      let interface: @convention(c) (Pointer) -> Text? = load("message_get_interface"),
      let member: @convention(c) (Pointer) -> Text? = load("message_get_member"),
      let errorName: @convention(c) (Pointer) -> Text? = load("message_get_error_name"),
      let replySerial: @convention(c) (Pointer) -> UInt32 = load("message_get_reply_serial"),
      let iterate: @convention(c) (Pointer, Pointer) -> UInt32 = load("message_iter_init"),
      let iterateAppending: @convention(c) (Pointer, Pointer) -> Void = load("message_iter_init_append"),
      let argumentType: @convention(c) (Pointer) -> Int32 = load("message_iter_get_arg_type"),
      let elementType: @convention(c) (Pointer) -> Int32 = load("message_iter_get_element_type"),
      let recurse: @convention(c) (Pointer, Pointer) -> Void = load("message_iter_recurse"),
      let getBasic: @convention(c) (Pointer, Pointer) -> Void = load("message_iter_get_basic"),
      let next: @convention(c) (Pointer) -> UInt32 = load("message_iter_next"),
      let appendBasic: @convention(c) (Pointer, Int32, Pointer) -> UInt32 = load("message_iter_append_basic"),
      let open: @convention(c) (Pointer, Int32, Text?, Pointer) -> UInt32 = load(
        "message_iter_open_container"),
      let closeContainer: @convention(c) (Pointer, Pointer) -> UInt32 = load("message_iter_close_container")
    else { throw Failure(.unavailable, "Bluetooth: libdbus-1.so.3 lacks the function dbus_\(missing)") }
    (self.errorInit, self.errorFree, self.setExit) = (errorInit, errorFree, setExit)
    self.openConnection = openConnection
    (self.close, self.unref, self.send, self.readWrite, self.pop) = (close, unref, send, readWrite, pop)
    (self.descriptor, self.newCall, self.newAnswer, self.newError) = (
      descriptor, newCall, newAnswer, newError
    )
    (self.unrefMessage, self.type, self.path, self.interface) = (unrefMessage, type, path, interface)
    (self.member, self.errorName, self.replySerial, self.iterate) = (member, errorName, replySerial, iterate)
    (self.iterateAppending, self.argumentType, self.elementType) = (
      iterateAppending, argumentType, elementType
    )
    (self.recurse, self.getBasic, self.next, self.appendBasic) = (recurse, getBasic, next, appendBasic)
    (self.open, self.closeContainer) = (open, closeContainer)
  }
}

/// A private connection to the system bus.
final class DBusConnection {
  /// The maximum nesting of received values: objects, interfaces, properties, variants and their arrays.
  private static let maxDepth = 12
  /// The maximum number of values in a received array. Even a building full of Bluetooth devices needs far
  /// fewer.
  private static let maxElements = 100_000

  private let functions: Functions
  private let connection: UnsafeMutableRawPointer
  /// The file descriptor of the connection. It becomes readable when a message arrives, which ends a wait in
  /// `poll`.
  let descriptor: Int32

  /// - Parameter address: the bus: `unix:path=/run/dbus/system_bus_socket`.
  /// - Throws: `Failure` of category `.unavailable` if there is no library or no bus.
  init(address: String) throws(Failure) {
    let functions = try Functions()
    let error = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
    defer { error.deallocate() }
    functions.errorInit(error)
    defer { functions.errorFree(error) }
    guard let connection = functions.openConnection(address, error) else {
      throw Self.connectionFailure(error)
    }
    functions.setExit(connection, 0)
    var descriptor: Int32 = -1
    _ = functions.descriptor(connection, &descriptor)
    (self.functions, self.connection, self.descriptor) = (functions, connection, descriptor)
  }

  /// The failure for an error of libdbus. The message is the second member of the C structure.
  private static func connectionFailure(_ error: UnsafeMutableRawPointer) -> Failure {
    let words = error.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
    return Failure(
      .unavailable,
      "Bluetooth: cannot reach the system bus: \(words ?? "unknown reason"); is dbus-daemon running?")
  }

  deinit {
    functions.close(connection)
    functions.unref(connection)
  }

  /// Sends a call, and returns its serial number.
  func send(
    to destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue]
  ) throws(DBusError) -> UInt32 {
    guard let message = functions.newCall(destination, path, interface, member) else { throw Self.noMemory }
    return try send(message, arguments)
  }

  func answer(_ call: ReceivedCall, _ arguments: [DBusValue]) throws(DBusError) {
    guard let message = functions.newAnswer(call.pointer) else { throw Self.noMemory }
    _ = try send(message, arguments)
  }

  func refuse(_ call: ReceivedCall, _ name: String) throws(DBusError) {
    guard let message = functions.newError(call.pointer, name, nil) else { throw Self.noMemory }
    _ = try send(message, [])
  }

  /// The next message; nil if none comes within this time.
  ///
  /// - Throws: `DBusError` if the bus closed the connection.
  func next(within milliseconds: Int32) throws(DBusError) -> (DBusMessage, ReceivedCall?)? {
    if let message = functions.pop(connection) { return received(message) }
    guard functions.readWrite(connection, milliseconds) != 0 else {
      throw DBusError(
        name: "org.freedesktop.DBus.Error.Disconnected", words: "the system bus closed the connection")
    }
    return functions.pop(connection).flatMap { received($0) }
  }

  /// A received call of this program's own objects, which must be answered.
  final class ReceivedCall {
    fileprivate let pointer: UnsafeMutableRawPointer
    private let unref: @convention(c) (UnsafeMutableRawPointer) -> Void

    fileprivate init(
      _ pointer: UnsafeMutableRawPointer, _ unref: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void
    ) {
      (self.pointer, self.unref) = (pointer, unref)
    }

    deinit { unref(pointer) }
  }

  private static let noMemory = DBusError(name: "org.freedesktop.DBus.Error.NoMemory", words: "no memory")
}

extension DBusConnection {
  private typealias Pointer = UnsafeMutableRawPointer

  private func send(_ message: Pointer, _ arguments: [DBusValue]) throws(DBusError) -> UInt32 {
    defer { functions.unrefMessage(message) }
    let isComplete = withIterator { iterator in
      functions.iterateAppending(message, iterator)
      return arguments.allSatisfy { append($0, to: iterator) }
    }
    var serial: UInt32 = 0
    guard isComplete, functions.send(connection, message, &serial) != 0 else { throw Self.noMemory }
    // This sends the message without waiting. If the socket's buffer is full, the message is sent with the
    // next one.
    _ = functions.readWrite(connection, 0)
    return serial
  }

  /// Memory for an iterator: libdbus's structure has 72 bytes on 64-bit systems.
  private func withIterator<Result>(_ work: (Pointer) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { memory in
      guard let base = memory.baseAddress else { preconditionFailure("an allocation has an address") }
      memory.initializeMemory(as: UInt8.self, repeating: 0)
      return work(base)
    }
  }

  private func append(_ value: DBusValue, to iterator: Pointer) -> Bool {
    switch value {
    case .string(let text): append(text, "s", to: iterator)
    case .objectPath(let text): append(text, "o", to: iterator)
    case .bool(let flag): append(UInt32(flag ? 1 : 0), "b", to: iterator)
    case .byte(let byte): append(byte, "y", to: iterator)
    case .uint16(let number): append(number, "q", to: iterator)
    case .uint32(let number): append(number, "u", to: iterator)
    case .bytes(let bytes):
      append(container: "a", "y", to: iterator) { part in bytes.allSatisfy { append($0, "y", to: part) } }
    case .array(let values):
      append(container: "a", "s", to: iterator) { part in values.allSatisfy { append($0, to: part) } }
    case .dictionary(let entries):
      append(container: "a", "{sv}", to: iterator) { part in
        entries.allSatisfy { key, value in
          append(container: "e", nil, to: part) { entry in
            append(key, "s", to: entry) && append(.variant(value), to: entry)
          }
        }
      }
    case .objects(let objects):
      append(container: "a", "{oa{sa{sv}}}", to: iterator) { part in
        objects.allSatisfy { path, interfaces in
          append(container: "e", nil, to: part) { append(path, "o", to: $0) && append(interfaces, to: $0) }
        }
      }
    case .variant(let content):
      append(container: "v", content.signature, to: iterator) { part in append(content, to: part) }
    case .integer, .descriptor, .other: false
    }
  }

  private func append(_ interfaces: [String: [String: DBusValue]], to iterator: Pointer) -> Bool {
    append(container: "a", "{sa{sv}}", to: iterator) { part in
      interfaces.allSatisfy { name, properties in
        append(container: "e", nil, to: part) {
          append(name, "s", to: $0) && append(.dictionary(properties), to: $0)
        }
      }
    }
  }

  private func append(_ text: String, _ type: UnicodeScalar, to iterator: Pointer) -> Bool {
    text.withCString { pointer in
      var pointer: UnsafePointer<CChar>? = pointer
      return functions.appendBasic(iterator, Int32(type.value), &pointer) != 0
    }
  }

  private func append<Number: BitwiseCopyable>(
    _ number: Number, _ type: UnicodeScalar, to iterator: Pointer
  ) -> Bool {
    var number = number
    return functions.appendBasic(iterator, Int32(type.value), &number) != 0
  }

  private func append(
    container type: UnicodeScalar, _ signature: String?, to iterator: Pointer, _ content: (Pointer) -> Bool
  ) -> Bool {
    withIterator { part in
      let isOpen =
        signature.map { $0.withCString { functions.open(iterator, Int32(type.value), $0, part) } }
        ?? functions.open(iterator, Int32(type.value), nil, part)
      return isOpen != 0 && content(part) && functions.closeContainer(iterator, part) != 0
    }
  }
}

extension DBusConnection {
  private func received(_ pointer: Pointer) -> (DBusMessage, ReceivedCall?)? {
    guard let kind = DBusMessage.MessageKind(rawValue: functions.type(pointer)) else {
      functions.unrefMessage(pointer)
      return nil
    }
    func text(_ function: @convention(c) (Pointer) -> UnsafePointer<CChar>?) -> String {
      function(pointer).map { String(cString: $0) } ?? ""
    }
    let arguments = withIterator { iterator in
      functions.iterate(pointer, iterator) != 0 ? values(iterator, depth: 0) : []
    }
    let message = DBusMessage(
      kind: kind, path: text(functions.path), interface: text(functions.interface),
      member: text(functions.member), replySerial: functions.replySerial(pointer),
      errorName: text(functions.errorName), arguments: arguments)
    if kind == .call { return (message, ReceivedCall(pointer, functions.unrefMessage)) }
    functions.unrefMessage(pointer)
    return (message, nil)
  }

  private func values(_ iterator: Pointer, depth: Int) -> [DBusValue] {
    var values: [DBusValue] = []
    while functions.argumentType(iterator) != 0, values.count < Self.maxElements {
      values.append(value(iterator, depth: depth))
      _ = functions.next(iterator)
    }
    return values
  }

  private func value(_ iterator: Pointer, depth: Int) -> DBusValue {
    guard depth < Self.maxDepth, let type = UnicodeScalar(UInt32(functions.argumentType(iterator))) else {
      return .other
    }
    switch type {
    case "s": return .string(text(iterator))
    case "o": return .objectPath(text(iterator))
    case "b": return .bool(number(iterator, UInt32.self) != 0)
    case "y": return .byte(number(iterator, UInt8.self))
    case "q": return .uint16(number(iterator, UInt16.self))
    case "u": return .uint32(number(iterator, UInt32.self))
    case "n": return .integer(Int64(number(iterator, Int16.self)))
    case "i": return .integer(Int64(number(iterator, Int32.self)))
    case "x": return .integer(number(iterator, Int64.self))
    case "h": return .descriptor(number(iterator, Int32.self))
    case "v":
      return withIterator { part in
        functions.recurse(iterator, part)
        return .variant(value(part, depth: depth + 1))
      }
    case "a": return array(iterator, depth: depth)
    default: return .other
    }
  }

  private func array(_ iterator: Pointer, depth: Int) -> DBusValue {
    let element = UnicodeScalar(UInt32(functions.elementType(iterator)))
    return withIterator { part in
      functions.recurse(iterator, part)
      guard element == "e" else {
        let values = values(part, depth: depth + 1)
        guard element == "y" else { return .array(values) }
        return .bytes(values.compactMap { if case .byte(let byte) = $0 { byte } else { nil } })
      }
      var entries: [String: DBusValue] = [:]
      while functions.argumentType(part) != 0, entries.count < Self.maxElements {
        let pair = withIterator { entry in
          functions.recurse(part, entry)
          return values(entry, depth: depth + 1)
        }
        if pair.count == 2, let key = pair[0].text { entries[key] = pair[1] }
        _ = functions.next(part)
      }
      return .dictionary(entries)
    }
  }

  private func text(_ iterator: Pointer) -> String {
    var pointer: UnsafePointer<CChar>?
    functions.getBasic(iterator, &pointer)
    return pointer.map { String(cString: $0) } ?? ""
  }

  private func number<Number: FixedWidthInteger & BitwiseCopyable>(_ iterator: Pointer, _: Number.Type)
    -> Number
  {
    // libdbus writes at most eight bytes into this number.
    var number: UInt64 = 0
    functions.getBasic(iterator, &number)
    return Number(truncatingIfNeeded: number)
  }
}

extension DBusValue {
  /// The type code of a value that is sent in a variant.
  fileprivate var signature: String {
    switch self {
    case .string: "s"
    case .objectPath: "o"
    case .bool: "b"
    case .byte: "y"
    case .uint16: "q"
    case .uint32: "u"
    case .bytes: "ay"
    case .array: "as"
    case .dictionary: "a{sv}"
    case .variant: "v"
    case .objects: "a{oa{sa{sv}}}"
    case .integer, .descriptor, .other: ""
    }
  }
}
