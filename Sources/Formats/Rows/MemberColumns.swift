// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Which column each member of an object fills, and which nested objects are read.
///
/// A scope identifies an object: 0 is the row, and each nested object with columns has another number. Keys
/// are found by a hash of their bytes. No strings are made, since most keys of an export are not read.
final class MemberColumns {
  static let maxColumns = 256
  /// The size of the hash table, a power of two. At most half of the slots are filled, so that every search
  /// ends.
  private static let slotCount = 1024

  struct Meaning {
    /// The index of the column; -1 if the member is not read.
    var column = -1
    /// The scope of the object that is the member's value; -1 if that object is not read.
    var inside = -1
  }

  private struct Member {
    let key: UnsafeMutablePointer<UInt8>
    let length: Int
    let scope: Int
    var meaning: Meaning
  }

  private(set) var columns: [String] = []
  var columnCount: Int { columns.count }
  /// Whether each new key adds a column. This is used to examine an unknown input.
  let collects: Bool
  private let slots: UnsafeMutablePointer<Member?>
  private var memberCount = 0
  /// The dotted name of each scope, with a dot at the end.
  private var paths = [""]

  /// - Parameter names: the members to find, with dots for members of nested objects; nil to collect all
  ///   names.
  init(_ names: [String]?) {
    collects = names == nil
    slots = .allocate(capacity: Self.slotCount)
    slots.initialize(repeating: nil, count: Self.slotCount)
    for name in names ?? [] where columns.count < Self.maxColumns {
      columns.append(name)
      enter(name, column: columns.count - 1)
    }
  }

  deinit {
    for slot in 0..<Self.slotCount { slots[slot]?.key.deallocate() }
    slots.deallocate()
  }

  /// The meaning of a key in an object of this scope.
  @inline(__always)
  func meaning(of key: UnsafePointer<UInt8>, length: Int, in scope: Int) -> Meaning {
    let slot = slot(of: key, length: length, in: scope)
    if let known = slots[slot] { return known.meaning }
    return collects ? collect(UnsafeBufferPointer(start: key, count: length), in: scope) : Meaning()
  }

  /// The slot of a key, or the empty slot for it.
  @inline(__always)
  private func slot(of key: UnsafePointer<UInt8>, length: Int, in scope: Int) -> Int {
    var hash = length &+ scope &* 64
    if length > 0 { hash ^= Int(key[0]) &* 37 &+ Int(key[length / 2]) &* 11 &+ Int(key[length - 1]) &* 101 }
    var slot = hash & (Self.slotCount - 1)
    while let known = slots[slot] {
      if known.length == length, known.scope == scope, memcmp(known.key, key, length) == 0 { return slot }
      slot = (slot + 1) & (Self.slotCount - 1)
    }
    return slot
  }

  /// Adds a name as a member of the row. A name with dots is also added as members of nested objects.
  private func enter(_ name: String, column: Int) {
    var scope = 0
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    for part in parts.dropLast() { scope = scopeInside(Array(part.utf8), of: scope) }
    change(Array((parts.last ?? "").utf8), in: scope) { $0.column = column }
    if parts.count > 1 { change(Array(name.utf8), in: 0) { $0.column = column } }
  }

  private func scopeInside(_ key: [UInt8], of scope: Int) -> Int {
    var inside = -1
    change(key, in: scope) { meaning in
      if meaning.inside < 0 { meaning.inside = newScope(scope, key) }
      inside = meaning.inside
    }
    return max(inside, 0)
  }

  private func newScope(_ scope: Int, _ key: [UInt8]) -> Int {
    paths.append(paths[scope] + String(decoding: key, as: UTF8.self) + ".")
    return paths.count - 1
  }

  private func change(_ key: [UInt8], in scope: Int, _ body: (inout Meaning) -> Void) {
    key.withUnsafeBufferPointer { bytes in
      let start = bytes.baseAddress ?? UnsafePointer(Field.absent.start)
      let slot = slot(of: start, length: bytes.count, in: scope)
      if slots[slot] == nil {
        guard memberCount < Self.slotCount / 2 else { return }
        memberCount += 1
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        copy.update(from: start, count: bytes.count)
        slots[slot] = Member(key: copy, length: bytes.count, scope: scope, meaning: Meaning())
      }
      guard var member = slots[slot] else { return }
      body(&member.meaning)
      slots[slot] = member
    }
  }

  private func collect(_ key: UnsafeBufferPointer<UInt8>, in scope: Int) -> Meaning {
    guard columns.count < Self.maxColumns else { return Meaning() }
    let name = Array(key)
    columns.append(paths[scope] + String(decoding: key, as: UTF8.self))
    let meaning = Meaning(column: columns.count - 1, inside: newScope(scope, name))
    change(name, in: scope) { $0 = meaning }
    return meaning
  }
}
