// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The server's end of a connection to umockdev's library. It receives the calls of a program, and accesses
/// the program's memory through the library. A message has three native words.
struct ProgramMemory {
  struct Call {
    let request: UInt64
    let argument: UInt64
  }

  private let connection: Int32

  init(_ connection: Int32) { self.connection = connection }

  /// The next ioctl; nil when the program closed the device file. The server does not handle other calls.
  func nextCall() -> Call? {
    while true {
      let bytes = receive(24)
      guard bytes.count == 24 else { return nil }
      let words = stride(from: 0, to: 24, by: 8).map { start in
        bytes[start..<(start + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      }
      if words[0] == 1 { return Call(request: words[1], argument: words[2]) }
      passOn()
    }
  }

  /// Lets the library perform the call on the real file.
  func passOn() { send([3, UInt64(bitPattern: -100), 0]) }

  func read(_ count: Int, at address: UInt64) -> [UInt8] {
    guard (1...(1 << 20)).contains(count) else { return [] }
    send([5, address, UInt64(count)])
    return receive(count)
  }

  /// The 32-bit number at an address.
  func number(at address: UInt64) -> UInt64 {
    read(4, at: address).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  func write(_ bytes: [UInt8], at address: UInt64) {
    send([6, address, UInt64(bytes.count)], bytes)
  }

  /// Ends a call. A negative result is the negated number of an error.
  func end(_ result: Int32) {
    send([3, UInt64(bitPattern: result < 0 ? -1 : Int64(result)), UInt64(result < 0 ? -result : 0)])
  }

  private func send(_ words: [UInt64], _ data: [UInt8] = []) {
    var bytes = words.flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) } + data
    while !bytes.isEmpty {
      let count = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      guard count > 0 else { return }
      bytes.removeFirst(count)
    }
  }

  private func receive(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let received = recv(connection, &bytes, count, Int32(MSG_WAITALL))
    return Array(bytes.prefix(max(0, received)))
  }
}
