// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Glibc
import Ingest
import Logbook
import LogbookStore
import USBTransport

/// `glucoport import`: stores the readings and records of exports and meters.
struct ImportCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "import", "Import readings and records from files, pipes and meters.",
    """
    The format is detected from the content; 'glucoport formats' lists the formats. \
    Importing the same data again stores nothing twice.
    """,
    examples: "glucoport import --timezone Europe/Madrid clarity.csv", "glucoport import --meter")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(
    help: ArgumentHelp("Files, ZIP archives and folders to import; - for standard input.", valueName: "path"))
  var paths: [PathArgument] = []

  @Flag(help: "Read the meter that is plugged in, or a paired one in reach.")
  var meter = false

  @Option(help: ArgumentHelp("Import a recorded meter session.", valueName: "file"))
  var transcript: PathArgument?

  @OptionGroup var meterOptions: MeterOptions

  @Flag(help: "With --meter: read all records, also of a meter that can send those since the last import.")
  var all = false

  @Flag(help: "With --meter: exit quietly if no meter is connected or in reach.")
  var ifPresent = false

  @Option(
    help: ArgumentHelp("Read the input in this format instead of detecting it.", valueName: "format"),
    completion: .formats)
  var format: String?

  @Option(help: ArgumentHelp("Unit of values that state none: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?

  @Option(
    help: ArgumentHelp(
      "Kind of readings if a generic table states none: smbg, cbg or scan.", valueName: "kind"),
    completion: .list(["smbg", "cbg", "scan"]))
  var kind: String?

  @Option(
    help: ArgumentHelp(
      "Time zone of times without an offset. The first import also sets the logbook's zone.",
      valueName: "zone"), completion: .zones)
  var timezone: String?

  @Option(
    help: ArgumentHelp("Order of day and month in dates: dmy or mdy.", valueName: "order"),
    completion: .list(["dmy", "mdy"]))
  var dateOrder: String?

  @Option(
    help: ArgumentHelp(
      "'complete': import a last line without a line end, even if it may be cut.", valueName: "state"),
    completion: .list(["complete"]))
  var lastLine: String?

  @Option(help: ArgumentHelp("Model of the device, if the input names none.", valueName: "model"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Columns of a generic table or of JSON objects, by role: time=ts,value=mgdl.",
      valueName: "role=column,…"))
  var map: [String] = []

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Import only rows of a table with this value in this column.",
      valueName: "column=value"))
  var rowsWhere: [String] = []

  @Option(
    help: ArgumentHelp(
      "When the export was made, if an older export is taken for the later one.", valueName: "time"),
    transform: TimeArgument.parse)
  var exported: TimeArgument?

  @Option(help: ArgumentHelp("Levels of folders to import from; default: all.", valueName: "number"))
  var depth: Int?

  @Option(
    help: ArgumentHelp(
      "Write rejected rows unchanged to this new file; - for standard output.", valueName: "file"))
  var rejects: PathArgument?

  @Flag(help: "Append rejected rows to the file of --rejects.")
  var rejectsAppend = false

  @Option(help: ArgumentHelp("Stop when more than this number of rows are rejected.", valueName: "number"))
  var maxRejects: Int?

  @Flag(help: "Store everything, or nothing if a row is rejected or the input is truncated.")
  var strict = false

  @Flag(help: "Show again what 'glucoport undo' withdrew of this same input.")
  var again = false

  @Flag(help: "Import values that are unlikely to be readings, or that contradict --unit.")
  var force = false

  @Flag(help: "Import an input that states another person than earlier ones, or one of another store.")
  var yes = false

  @Flag(help: "Preview; store nothing.")
  var dryRun = false

  @Flag(help: "Print one JSON object for each input.")
  var json = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    try validateSource()
    if rejectsAppend, rejects == nil || rejects?.path == RejectsFile.standardOutput {
      throw ValidationError("--rejects-append needs --rejects with a file.")
    }
    if json, rejects?.path == RejectsFile.standardOutput {
      throw ValidationError("--json and --rejects - both write to standard output; choose one.")
    }
    if let depth, depth < 1 { throw ValidationError("--depth is a whole number, 1 or more.") }
    if let maxRejects, maxRejects < 0 { throw ValidationError("--max-rejects is a whole number, 0 or more.") }
    if let dateOrder, !["dmy", "mdy"].contains(dateOrder) {
      throw ValidationError("--date-order is dmy or mdy.")
    }
    if let lastLine, lastLine != "complete" { throw ValidationError("--last-line is complete.") }
    if let format, !FormatRegister.all.contains(where: { $0.id == format }) {
      throw FormatName.unknown(format)
    }
    if let kind, !["smbg", "cbg", "scan"].contains(kind) {
      throw ValidationError("--kind is smbg, cbg or scan.")
    }
    _ = try columns()
    _ = try rowFilters()
  }

  func run() throws {
    Host.keepFilesPrivate()
    Host.returnsLargeBuffers()
    let output = Output()
    let status = try meter || transcript != nil ? importMeters(output) : importFiles(output)
    try output.finish()
    if status != .done { throw status }
  }

  /// Imports files into one store.
  func importPaths(_ output: Output) throws -> ExitStatus {
    let store = storeOptions.isChosen ? try storeOptions.path : nil
    let places = try ImportPaths(paths.map(\.path), depth: depth, persons: PersonList.load(), into: store)
    for (folder, owner) in places.leftOut where !quiet {
      output.message("glucoport: \(displayed(folder)) is left out: it is a folder of \(displayed(owner))")
    }
    let rejectsFile = try makeRejectsFile(places, output)
    let target = try ImportTarget(self, output)
    SignalFlag.watch(endsOnSecond: true)
    let run = ImportRun(self, target, rejectsFile, output)
    try run.run(places)
    try target.finish()
    try rejectsFile?.close()
    if let missing = rejectsFile?.missing, missing > 0 {
      output.message(
        "glucoport: \(counted(missing, "rejected row is", "rejected rows are")) missing in the --rejects file; correct them in the input"
      )
    }
    return ExitStatus.of(run.statuses)
  }

  /// Opens the file of `--rejects`; nil if there is none. A dry run writes no file.
  private func makeRejectsFile(_ places: ImportPaths, _ output: Output) throws -> RejectsFile? {
    guard let rejects else { return nil }
    if rejects.path == RejectsFile.standardOutput { return RejectsFile(output) }
    if dryRun { return nil }
    let remote = try storeOptions.existing()?.remote()
    let protected = ProtectedFiles(
      store: try storeOptions.path, remote: remote,
      inputs: places.places.map { ExportInputs.file(of: $0.path) })
    return try RejectsFile(path: rejects.path, appends: rejectsAppend, apartFrom: protected)
  }

  /// A copy of the file descriptor of standard input. The reader of the input closes the copy.
  var standardInput: Int32 { dup(STDIN_FILENO) }

  /// How the import treats rejected items, hidden items and inputs of another person, according to the
  /// options.
  var policy: ImportPolicy {
    var policy = ImportPolicy()
    policy.isStrict = strict
    policy.maxRejections = maxRejects
    policy.restoresWithdrawn = again
    policy.acceptsPerson = yes
    return policy
  }

  /// Runs an import. If too many rejections end it, the rejections and the reason are printed.
  func namingRejections(_ output: Output, _ work: () throws -> ExitStatus) throws -> ExitStatus {
    do {
      return try work()
    } catch let stopped as RejectedInput {
      show(stopped.rejections, of: stopped.count, in: stopped.source, output)
      let status = ExitStatus(stopped.failure.category)
      output.failure("glucoport: \(stopped.failure.message)", status)
      return status
    }
  }

  /// Prints the results for one input, and returns its exit status.
  func show(_ report: ImportReport, in store: () throws -> Store, _ output: Output) throws -> ExitStatus {
    let doubles = try ImportDoubles(report.ingest, report.counts, store())
    if json {
      try output.json(ImportObject(report, doubles, isDryRun: dryRun))
    } else if quiet {
      showDoubles(of: report, doubles, output)
      for warning in ImportSummary.warnings(report, isQuiet: true) {
        output.message("\(displayed(report.source)): \(warning)")
      }
    } else {
      let isOnOutput = rejects?.path == RejectsFile.standardOutput
      let rejectsFile = dryRun || isOnOutput ? nil : rejects?.path
      let lines = ImportSummary.lines(report, doubles, isDryRun: dryRun, rejectsFile: rejectsFile)
      for line in lines { show(line, output) }
    }
    return reportProblems(report, output)
  }

  /// Prints on standard error how many items of an input another source has, too.
  func showDoubles(of report: ImportReport, _ doubles: ImportDoubles, _ output: Output) {
    for line in doubles.lines { output.message("\(displayed(report.source)): \(line)") }
  }

  /// Prints a line of a summary. If the rejected rows go to standard output, the line goes to standard error.
  func show(_ line: String, _ output: Output) {
    rejects?.path == RejectsFile.standardOutput ? output.message(line) : output.line(line)
  }

  /// Prints on standard error what could not be imported. Returns the exit status for this input.
  func reportProblems(_ report: ImportReport, _ output: Output) -> ExitStatus {
    show(report.rejections, of: report.counts.rejected, in: report.source, output)
    if let fault = report.end.fault {
      output.failure("\(displayed(report.source))\(fault); \(remedy(report))", .badInput)
    }
    if let found = report.contradictions {
      output.failure("glucoport: \(contradiction(report, found))", .badInput)
    }
    return ExitStatus.of(report)
  }

  /// The message about a table whose values differ from the store's readings at the same times.
  private func contradiction(_ report: ImportReport, _ found: (count: Int, compared: Int)) -> String {
    let name = displayed(report.source)
    let new = report.counts.newReadings
    let undo =
      new > 0 && !dryRun
      ? "; \(counted(new, "other reading was", "other readings were")) stored, which 'glucoport undo' rolls back"
      : ""
    return
      "\(name): \(grouped(found.count)) of \(grouped(found.compared)) values at times that the store has already are other values, "
      + "as those of another person or device; the store keeps its own\(undo). If they are yours, import them as those of a "
      + "device with --device NAME \(report.source.shellWord); if they are another person's, with --person NAME "
      + report.source.shellWord
  }

  /// The advice about an input that was read only in part.
  private func remedy(_ report: ImportReport) -> String {
    guard case .unterminated = report.end else {
      return "everything before that is stored; import the complete file again"
    }
    return "everything else is stored; if the file is complete, import it with --last-line complete; "
      + "else import the complete file"
  }

  /// Prints the first rejections of an input. `count` is the number of all its rejections.
  private func show(_ rejections: [Rejection], of count: Int, in source: String, _ output: Output) {
    for rejection in rejections {
      output.message("\(displayed(source)):\(rejection.line): \(rejection.reason)")
    }
    let more = count - rejections.count
    if more > 0 { output.message("\(displayed(source)): and \(counted(more, "more rejected row"))") }
  }

  /// The columns that `--map` states, by their roles.
  func columns() throws -> [String: String] {
    var columns: [String: String] = [:]
    for text in map {
      guard let pairs = ColumnPairs.parse(text) else {
        throw ValidationError("--map needs role=column pairs, such as time=ts,value=mgdl.")
      }
      for (role, column) in pairs {
        if let other = columns[role], other != column {
          throw ValidationError(
            "--map names two columns for \(role): '\(other)' and '\(column)'. "
              + Self.adviceForSeveralColumns(role, column))
        }
        columns[role] = column
      }
    }
    return columns
  }

  /// How to import a second column for a role of `--map`.
  private static func adviceForSeveralColumns(_ role: String, _ column: String) -> String {
    let further = ["insulin": "insulin2", "insulin2": "insulin3", "carbs": "carbs2"]
    if let next = further[role] { return "To import both, use \(next)=\(column)." }
    return
      "Import them one after the other, each with its own --device or --kind; for finger sticks beside a sensor add "
      + "smbg=\(column)."
  }

  /// The conditions that `--where` states: columns and the values that rows must have.
  func rowFilters() throws -> [RowFilter] {
    try rowsWhere.map { text in
      guard let pairs = ColumnPairs.parse(text), pairs.count == 1 else {
        throw ValidationError(#"--where needs COLUMN=VALUE; write a comma as \,"#)
      }
      return RowFilter(column: pairs[0].name, value: pairs[0].value)
    }
  }

  /// The start of the command that a hint suggests: `glucoport import` with the options of this run. The
  /// caller appends the names of inputs.
  var start: String {
    var words = ["glucoport", "import"]
    words += storeOptions.words().dropFirst()
    if let maxRejects { words += ["--max-rejects", String(maxRejects)] }
    for (flag, isSet) in [("--strict", strict), ("--dry-run", dryRun), ("--json", json), ("--quiet", quiet)]
    where isSet { words.append(flag) }
    return words.map(\.shellWord).joined(separator: " ")
  }

  static func progress(
    _ path: String, _ counts: IngestCounts, _ progress: (done: Int64, total: Int64?)
  ) -> String {
    let part =
      progress.total.map { $0 > 0 ? "\(min(100, progress.done * 100 / $0)) %" : "" }
      ?? "\(progress.done / 1024) KiB"
    return "\(displayed(path)): \(part) · \(counted(counts.readings, "reading"))"
  }
}
