// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookStore

/// Adds entries from the lines of standard input. For each line, a result is printed as soon as the line is
/// stored. So a program at the other end of the pipe knows what is stored.
final class EntryLines {
  /// The maximum number of lines that are kept in memory until the end of the input.
  private static let maxBuffered = 100_000

  private(set) var refused = 0
  private let storeOptions: StoreOptions
  private let isStrict: Bool
  private let keepsItems: Bool
  private let result: RecordOutputOptions
  private let output: Output
  private var store: Store?
  private var reader: Store?
  private var numbers: [String: Int] = [:]
  private var buffered: [(line: Int, entry: TypedEntry)] = []
  private var items: [StoredItem] = []

  /// - Parameter keepsItems: whether `run` returns the added items. If it does, all added items are kept in
  ///   memory until the input ends.
  init(
    _ storeOptions: StoreOptions, isStrict: Bool, keepsItems: Bool, _ result: RecordOutputOptions,
    _ output: Output
  ) {
    (self.storeOptions, self.isStrict, self.keepsItems) = (storeOptions, isStrict, keepsItems)
    (self.result, self.output) = (result, output)
  }

  /// Stores the entries until the input ends. Returns the added items if `keepsItems` is true, else none.
  ///
  /// Every line is stored, even if its result cannot be printed: typed data is worth more than the result.
  func run() throws -> [StoredItem] {
    Host.ignoreBrokenPipes()
    var lines = LineReader(descriptor: STDIN_FILENO)
    var number = 0
    while let line = try lines.next() {
      number += 1
      try answering({ number }) {
        guard let text = line.text else {
          throw Failure(.badInput, "longer than \(LineReader.maxBytes / 1024) KiB, or not valid UTF-8")
        }
        switch try content(number == 1 ? text.withoutByteOrderMark : text[...]) {
        case nil: break
        case .correction(let revision)?: try correct(revision, number)
        case .entry(let entry)?:
          // A record may belong to an entry in a later line, so the record is kept until the input ends.
          if isStrict || entry.belongsToOthers {
            try buffer(entry, number)
          } else {
            try add([(number, entry)])
          }
        }
      }
      _ = output.writeBuffer()
    }
    try storeBufferedLines()
    return items
  }

  /// Runs the work for a line. If the line is refused, the reason is printed as its result.
  ///
  /// - Parameter line: returns the number of the line to refuse.
  private func answering(_ line: () -> Int, _ work: () throws -> Void) throws {
    do {
      try work()
    } catch let failure as Failure where Self.isOfLine(failure) {
      try refuse(line(), failure.message)
    }
  }

  /// Whether a failure concerns only one line, so that the next lines can still be stored.
  private static func isOfLine(_ failure: Failure) -> Bool {
    [.usage, .badInput, .missingInput].contains(failure.category)
  }

  /// The store, opened at least for reading; nil if it does not exist yet. It is opened only once, since
  /// there may be many lines.
  private func knownStore() throws -> Store? {
    if let known = store ?? reader { return known }
    reader = try storeOptions.existing()
    return reader
  }

  private func openStore() throws -> Store {
    if let store { return store }
    let opened = try storeOptions.openOrCreate(.importer, output)
    store = opened
    return opened
  }

  private func buffer(_ entry: TypedEntry, _ line: Int) throws {
    guard buffered.count < Self.maxBuffered else {
      throw Failure(
        .configuration, "at most \(grouped(Self.maxBuffered)) lines are held; import larger inputs")
    }
    buffered.append((line, entry))
  }

  /// Stores the lines that were kept until the end of the input. Entries come before the records that belong
  /// to them.
  private func storeBufferedLines() throws {
    let sorted = buffered.filter { !$0.entry.belongsToOthers } + buffered.filter(\.entry.belongsToOthers)
    guard !sorted.isEmpty else { return }
    guard isStrict else {
      for (line, entry) in sorted { try answering({ line }) { try add([(line, entry)]) } }
      return
    }
    var place = 0
    if refused == 0 {
      try answering({ sorted[place].line }) {
        if try knownStore() == nil {
          // The lines are first added to a temporary store, so that refused lines do not create a new store.
          let trial = try Store.scratch(copyOf: nil, zone: storeOptions.zone())
          _ = try EntryEditor(trial, at: Host.now()).add(sorted.map(\.entry)) { place = $0 }
        }
        try add(sorted) { place = $0 }
      }
    }
    if refused > 0 {
      output.message("glucoport: nothing was added, since --strict stores all lines or none")
    }
  }

  /// Stores entries in one transaction, and prints a result for each of their lines.
  ///
  /// - Parameter reached: gets the index of each entry before the entry is stored.
  private func add(
    _ entries: [(line: Int, entry: TypedEntry)], reached: (Int) -> Void = { _ in }
  ) throws {
    let outcomes = try EntryEditor(openStore(), at: Host.now()).add(entries.map(\.entry), reached: reached)
    for ((line, _), outcome) in zip(entries, outcomes) { try answer(line, outcome, word: "added") }
  }

  private func correct(_ revision: EntryRevision, _ line: Int) throws {
    try answer(line, try EntryEditor(openStore(), at: Host.now()).revise(revision), word: "edited")
  }

  /// Prints the result for a line whose entry is stored.
  ///
  /// - Parameter word: the result to print for an entry that the store did not have before, such as `added`.
  private func answer(_ line: Int, _ outcome: EntryEditor.EntryResult, word: String) throws {
    if outcome.isNew, keepsItems { items += outcome.items }
    if result.quiet { return }
    let isWithdrawn = !outcome.isNew && outcome.items.allSatisfy(Self.isInvisible)
    let object = EntryLineObject(
      line: line, outcome: outcome.isNew ? word : "known", withdrawn: isWithdrawn,
      differs: outcome.differs, ids: outcome.items.map(Self.id), reason: nil)
    try output.result(asJSON: result.json, object, orLines: [object.text])
  }

  private static func id(_ item: StoredItem) -> String {
    switch item {
    case .reading(let reading): reading.shortID
    case .record(let record): record.guid
    }
  }

  /// Whether an item is hidden or deleted, for example after `undo`.
  private static func isInvisible(_ item: StoredItem) -> Bool {
    switch item {
    case .reading(let reading): reading.isWithdrawn
    case .record(let record): record.isWithdrawn || record.isDeleted
    }
  }

  private func refuse(_ line: Int, _ reason: String) throws {
    refused += 1
    let text = "line \(line): refused: \(displayed(reason))"
    if result.quiet { return output.message("glucoport: \(text)") }
    try output.result(
      asJSON: result.json,
      EntryLineObject(
        line: line, outcome: "refused", withdrawn: false, differs: false, ids: [], reason: reason),
      orLines: [text])
  }

  /// What a line asks for: a new entry or the correction of a stored one.
  private enum LineContent {
    case entry(TypedEntry)
    case correction(EntryRevision)
  }

  /// Reads a line; nil if it is empty or a comment.
  private func content(_ text: Substring) throws -> LineContent? {
    let text = text.trimmingSuffix(while: \.isWhitespace).drop(while: \.isWhitespace)
    guard let first = text.first, first != "#" else { return nil }
    guard first != "[" else {
      throw Failure(.badInput, "a line has one object, or the words of one entry")
    }
    let known = try knownStore()
    let zone = try known?.timezone() ?? storeOptions.zone()
    let number = numbers[String(text), default: 0]
    let ids = EntryIDs(line: String(text), number: number)
    let entry: TypedEntry
    if first == "{" {
      entry = try EntryObject(json: String(text)).entry(ids, zone: zone)
    } else {
      let line = try Self.line(String(text))
      let options = line.options
      if !options.force {
        try RecordContentOptions.requirePlausible(options.at, in: known, zone: zone, output)
      }
      let words = try EntryWords(options, unit: try known?.displayUnit())
      if let id = line.edit { return .correction(try correction(id, words, options, known, zone)) }
      try words.requireWhole(options)
      let isRepeatable = options.at?.isComplete == true
      entry = EntryDraft(words, options, zone: zone).entry(isRepeatable ? ids : .random)
    }
    numbers[String(text)] = number + 1
    return .entry(entry)
  }

  private func correction(
    _ id: String, _ words: EntryWords, _ options: EntryOptions, _ store: Store?, _ zone: LogbookZone
  ) throws -> EntryRevision {
    // With `--strict`, the lines before this one are not stored yet, so the entry to correct may be missing.
    if isStrict {
      throw Failure(.usage, "--strict stores all lines at once; correct an entry in a run without it")
    }
    guard let store else { throw Failure(.missingInput, "there is no store yet, and so no entry to correct") }
    return try EntryCorrection.revision(of: EntryCorrection.entry(id, store), words, options, zone: zone)
  }

  private static func line(_ text: String) throws -> EntryLine {
    do {
      return try EntryLine.parse(try words(text))
    } catch let failure as Failure {
      throw failure
    } catch {
      let isHelp = EntryLine.exitCode(for: error) == .success
      let message = EntryLine.message(for: error)
      throw Failure(.usage, isHelp ? "a line has only the words and options of an entry" : message)
    }
  }

  /// Splits a line into words at blanks. Quotation marks around a word keep its blanks.
  static func words(_ text: String) throws -> [String] {
    var (words, rest) = ([String](), text[...])
    while true {
      rest = rest.drop(while: \.isWhitespace)
      guard let first = rest.first else { return words }
      if first == "\"" || first == "'" {
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: first) else {
          throw Failure(.usage, "a quotation mark is not closed")
        }
        words.append(String(rest[..<end]))
        rest = rest[rest.index(after: end)...]
      } else {
        let word = rest.prefix { !$0.isWhitespace }
        words.append(String(word))
        rest = rest.dropFirst(word.count)
      }
    }
  }
}

extension TypedEntry {
  /// Whether the entry belongs to another one, which must be stored first.
  fileprivate var belongsToOthers: Bool { records.first?.draft.entryGuid != nil }
}

extension String {
  /// The text without the byte-order mark with which some editors begin a file.
  fileprivate var withoutByteOrderMark: Substring {
    unicodeScalars.first == "\u{FEFF}" ? Substring(unicodeScalars.dropFirst()) : self[...]
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
    var text = self
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return text
  }
}

/// The result for one line of `add - --json`; glucoport-json(5) documents the members.
struct EntryLineObject: Encodable {
  let line: Int
  let outcome: String
  let withdrawn: Bool
  let differs: Bool
  let ids: [String]
  let reason: String?

  /// The result as text, for a line that was not refused.
  var text: String {
    let state = withdrawn ? ", hidden" : differs ? ", differs" : ""
    return "line \(line): \(outcome)\(state) \(ids.joined(separator: " "))"
  }
}

/// Reads lines from a file descriptor as they arrive, and limits their length.
struct LineReader {
  /// The maximum length of a line in bytes. It is far more than any record needs.
  static let maxBytes = 256 << 10

  struct InputLine {
    /// The text of the line; nil if the line is too long or not valid UTF-8.
    let text: String?
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var isAtEnd = false

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Waits for the next line; nil at the end of the input.
  ///
  /// - Throws: `Failure` of category `inputOutput` if the input cannot be read.
  mutating func next() throws(Failure) -> InputLine? {
    var isTooLong = false
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        let bytes = Array(buffer[..<end])
        buffer.removeFirst(end + 1)
        return InputLine(
          text: isTooLong || bytes.count > Self.maxBytes ? nil : String(validating: bytes, as: UTF8.self))
      }
      if buffer.count > Self.maxBytes {
        isTooLong = true
        buffer.removeAll(keepingCapacity: true)
      }
      if isAtEnd {
        guard !buffer.isEmpty || isTooLong else { return nil }
        defer { buffer.removeAll() }
        return InputLine(text: isTooLong ? nil : String(validating: buffer, as: UTF8.self))
      }
      try fill()
    }
  }

  private mutating func fill() throws(Failure) {
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = uninterrupted { read(descriptor, &piece, piece.count) }
      guard count >= 0 else {
        throw Failure(.inputOutput, "cannot read standard input: \(String(cString: strerror(errno)))")
      }
      isAtEnd = count == 0
      return buffer.append(contentsOf: piece[..<count])
    }
  }
}
