// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Glibc
import Logbook
import LogbookStore

/// `glucoport list`: shows readings and records in the order of time.
struct ListCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List readings and records, oldest first.",
    discussion: helpText(
      ListOptions.tableRule,
      examples: "glucoport list --since 14d --unit mmol/L",
      "glucoport list --kind smbg,ketone --limit 20"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var items: ItemOptions
  @OptionGroup var listing: ListOptions

  @OptionGroup var values: UnitOptions

  @Flag(help: "In csv and ndjson, add the value in mg/dL and in mmol/L.")
  var bothUnits = false

  @Flag(help: "Show one line for each day with readings.")
  var days = false

  @Flag(help: "In a table, show short ids of readings, too.")
  var ids = false

  @Flag(help: "Show only what figures leave out because another source states it, too.")
  var leftOut = false

  @Flag(help: "In a table, show a bar for each glucose value, and an arrow outside of 70-180 mg/dL.")
  var plot = false

  @Flag(help: "With --plot: draw with ASCII characters only.")
  var ascii = false

  func validate() throws {
    if leftOut, days || plot || listing.format != .table {
      throw ValidationError("--left-out is only for tables, without --days and --plot.")
    }
    if plot, days || listing.format != .table { throw ValidationError("--plot is only for tables.") }
    if ascii, !plot { throw ValidationError("--ascii needs --plot.") }
    if ids, days || leftOut || listing.long || listing.format != .table {
      throw ValidationError("--ids is only for tables without --long, --days and --left-out.")
    }
    if days, listing.format == .csv { throw ValidationError("--days needs --format table or ndjson.") }
    if listing.format != .table, values.unit != nil {
      throw ValidationError(
        "--unit is only for tables; for csv and ndjson use --both-units."
      )
    }
    if bothUnits, listing.format == .table || days {
      throw ValidationError("--both-units is only for csv and ndjson.")
    }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    let filter = try items.filter(store)
    if leftOut {
      try listing.writeLeftOut(filter, of: store, unit: values.unit, output)
    } else if days {
      try listing.writeDays(filter, of: store, output)
    } else {
      let bars = plot ? ListBars(isASCII: ascii) : nil
      try listing.write(
        filter, of: store, unit: values.unit, inBothUnits: bothUnits, bars: bars, showsIDs: ids, output)
    }
    try output.finish()
  }
}

/// The forms in which `list` shows items.
enum ListForm: String, ExpressibleByArgument, CaseIterable {
  case table, csv, ndjson
}

/// The options for how items are listed, and the listing itself.
struct ListOptions: ParsableArguments {
  static let tableRule = "A table has the newest 50 items unless --since, --until or --limit is given."

  @Option(help: ArgumentHelp("Show only the newest N.", valueName: "number"))
  var limit: Int?

  @Option(help: ArgumentHelp("table, csv or ndjson.", valueName: "form"))
  var format = ListForm.table

  @Flag(help: "Show devices and ids in the table, too.")
  var long = false

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is a whole number, 1 or more.") }
  }

  /// Lists the days with readings that pass the filter.
  func writeDays(_ filter: ItemFilter, of store: Store, _ output: Output) throws {
    let marksQueued = try store.remote() != nil
    for day in try store.readingDays(limited(filter), store.activity()) {
      try output.result(
        asJSON: format != .table, DayObject(day), orLines: [DayText.line(day, marksQueued: marksQueued)])
    }
  }

  /// Lists the items that figures leave out because another source states them, too.
  func writeLeftOut(_ filter: ItemFilter, of store: Store, unit: GlucoseUnit?, _ output: Output) throws {
    try LeftOutListing(store, table(of: store, unit: unit, bars: nil, output)).write(limited(filter), output)
  }

  private func table(
    of store: Store, unit: GlucoseUnit?, bars: ListBars?, showsIDs: Bool = false, _ output: Output
  ) throws -> TableWriter {
    TableWriter(
      output: output, unit: try unit ?? store.displayUnit(), isLong: long, showsIDs: showsIDs,
      marksQueued: try store.remote() != nil, activity: try store.activity(), bars: bars)
  }

  private func limited(_ filter: ItemFilter) -> ItemFilter {
    var filter = filter
    let isOpenTable = format == .table && filter.since == nil && filter.until == nil
    filter.newest = limit ?? (isOpenTable ? 50 : nil)
    return filter
  }

  /// Lists the items that pass the filter. A table shows values in this unit, or else in that of the
  /// settings.
  func write(
    _ filter: ItemFilter, of store: Store, unit: GlucoseUnit?, inBothUnits: Bool = false,
    bars: ListBars? = nil, showsIDs: Bool = false, _ output: Output
  ) throws {
    let filter = limited(filter)
    var writer: any ItemWriter =
      switch format {
      case .csv: OwnFormatWriter(.csv(isSpreadsheetSafe: false), inBothUnits: inBothUnits, output)
      case .ndjson: OwnFormatWriter(.ndjson, inBothUnits: inBothUnits, output)
      case .table: try table(of: store, unit: unit, bars: bars, showsIDs: showsIDs, output)
      }
    writer.begin()
    try store.forEachItem(filter) {
      writer.write($0)
      try output.checkReader()
    }
    for message in writer.end() { output.message("glucoport: \(message)") }
  }
}

/// A list in a JSON file of the data folder that only its owner can read. It is never sent.
struct ListFile {
  private static let maxBytes: off_t = 1 << 20

  /// The name of the file.
  let name: String
  /// What it has, for a message: `list of persons`.
  let title: String
  /// How a person makes it again, for a message: `add them again`.
  let remedy: String

  /// The path; nil if the environment names no data folder.
  var path: String? { Host.dataFolder.map { $0 + "/" + name } }

  /// The bytes; nil without a file.
  ///
  /// - Throws: `Failure`: `badInput` if the file cannot be such a list, `permission`, `inputOutput`.
  func bytes() throws -> [UInt8]? {
    guard let path else { return nil }
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(path, "cannot be read")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.maxBytes
    else { throw fault() }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
      throw failure(path, "cannot be read")
    }
    return bytes
  }

  /// The elements of the list.
  ///
  /// - Parameters:
  ///   - member: the name of the array in the file.
  ///   - element: reads one of them.
  /// - Throws: `Failure` as for `bytes`.
  func elements<Element>(
    of member: String, _ element: (inout JSONScanner) throws(JSONError) -> Element
  ) throws -> [Element] {
    guard let bytes = try bytes() else { return [] }
    var elements: [Element] = []
    do throws(JSONError) {
      try JSONScanner.read(bytes) { (scanner) throws(JSONError) in
        try scanner.object { (name, scanner) throws(JSONError) in
          guard name == member else { return false }
          try scanner.array { (scanner) throws(JSONError) in elements.append(try element(&scanner)) }
          return true
        }
      }
    } catch {
      throw fault(error.reason)
    }
    return elements
  }

  /// Runs work while no other process changes the list.
  ///
  /// - Throws: errors of the work; `Failure`: `configuration` without a data folder, `cannotCreate`, `permission`,
  ///   `inputOutput`.
  func locked<Value>(_ work: () throws -> Value) throws -> Value {
    guard let path, let folder = Host.dataFolder else {
      throw Failure(
        .configuration, "no data folder for the \(title); set HOME or XDG_DATA_HOME to an absolute path")
    }
    Host.keepFilesPrivate()
    try Host.makeFolder(folder)
    let lock = open(PathText.bytes(path + ".lock"), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw failure(path + ".lock", "cannot be locked") }
    defer { close(lock) }
    return try work()
  }

  /// Takes the lock for work with what the list names; nil while another process holds it.
  ///
  /// - Throws: `Failure` as for `locked`.
  func lock(for work: UploadLock.Work) throws -> UploadLock? {
    try locked { try path.flatMap { try UploadLock.take(storePath: $0, for: work) } }
  }

  /// Replaces the content. Another process sees the old or the new one.
  ///
  /// - Throws: `Failure` as for a file that is saved.
  func save(_ list: some Encodable) throws {
    guard let path else { return }
    let bytes = Array((try OrderedJSON.text(list) + "\n").utf8)
    try SavedFile(path: path, replaces: true, protected: ProtectedFiles(store: nil)).write { sink in
      try bytes.withUnsafeBytes(sink)
    }
  }

  private func fault(_ reason: String? = nil) -> Failure {
    Failure(
      .badInput,
      "\(displayed(path ?? name)): not a \(title)\(reason.map { ": \($0)" } ?? ""); move it away, and \(remedy)"
    )
  }

  private func failure(_ path: String, _ what: String) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES || reason == EPERM ? .permission : .inputOutput,
      "\(displayed(path)): \(what): \(String(cString: strerror(reason)))")
  }
}
