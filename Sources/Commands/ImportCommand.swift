// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Ingest
import Logbook
import LogbookStore
import USBTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `glucoport import`: carries exports into the store.
struct ImportCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Import exports of apps, meters and services into the store.",
    discussion: """
      A meter that is plugged in is read with --meter. The format is detected from the content; 'glucoport formats' lists what is read. Importing the same thing \
      again stores nothing twice.
      """)

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: ArgumentHelp("Files to import; - for standard input.", valueName: "path"))
  var paths: [PathArgument] = []

  @Flag(help: "Read the meter that is plugged in.")
  var meter = false

  @Option(help: ArgumentHelp("Read the talk with a meter that this transcript holds.", valueName: "file"))
  var transcript: PathArgument?

  @OptionGroup var meterOptions: MeterOptions

  @Flag(help: "With --meter: without a meter do nothing, and say nothing.")
  var ifPresent = false

  @Option(help: ArgumentHelp("Read the input as this format.", valueName: "format"))
  var format: String?

  @Option(help: ArgumentHelp("The unit of values that name none: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?

  @Option(
    help: ArgumentHelp(
      "The kind of readings where a generic table names none: smbg, cbg or scan.", valueName: "kind"))
  var kind: String?

  @Option(
    help: ArgumentHelp(
      "The zone of times without one, for this import; the import that creates the store fixes the logbook's.",
      valueName: "zone"))
  var timezone: String?

  @Option(help: ArgumentHelp("Whether dates put the day or the month first: dmy or mdy.", valueName: "order"))
  var dateOrder: String?

  @Option(help: ArgumentHelp("The device's model, where the input names none.", valueName: "model"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Columns of a generic table or of JSON objects, by role: time=ts,value=mgdl.",
      valueName: "role=column,…"))
  var map: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Import only the rows of a generic table that have this value in a column, such as one person's.",
      valueName: "column=value"))
  var rowsWhere: [String] = []

  @Option(
    help: ArgumentHelp(
      "Write rejected rows to this new file, as they stood; - for standard output.", valueName: "file"))
  var rejects: PathArgument?

  @Flag(help: "Append rejected rows to the file of --rejects.")
  var rejectsAppend = false

  @Option(help: ArgumentHelp("Give up when more than this many rows are rejected.", valueName: "number"))
  var maxRejects: Int?

  @Flag(help: "Store everything or, when one row is rejected or the input is cut off, nothing.")
  var strict = false

  @Flag(help: "Tell what an import would do, and write nothing.")
  var dryRun = false

  @Flag(help: "Print one JSON object for each input.")
  var json = false

  @Flag(help: "Say nothing on success.")
  var quiet = false

  func validate() throws {
    try validateSource()
    if rejectsAppend, rejects == nil || rejects?.path == RejectsFile.standardOutput {
      throw ValidationError("--rejects-append needs --rejects with a file.")
    }
    if json, rejects?.path == RejectsFile.standardOutput {
      throw ValidationError("--json and --rejects - both write to standard output; choose one.")
    }
    if let maxRejects, maxRejects < 0 { throw ValidationError("--max-rejects takes a number from 0.") }
    if let dateOrder, !["dmy", "mdy"].contains(dateOrder) {
      throw ValidationError("--date-order takes dmy or mdy.")
    }
    if let format, !ExportRegister.all.contains(where: { $0.id == format }) {
      throw ValidationError("There is no format '\(format)'; 'glucoport formats' lists them.")
    }
    if let kind, !["smbg", "cbg", "scan"].contains(kind) {
      throw ValidationError("--kind takes smbg, cbg or scan.")
    }
    _ = try columns()
    _ = try rowFilters()
  }

  func run() throws {
    Host.keepFilesPrivate()
    let output = Output()
    if meter || transcript != nil { return try importMeter(output) }
    let rejectsFile = try makeRejectsFile(output)
    let target = try ImportTarget(self, output)
    SignalFlag.watch(endsOnSecond: true)
    var statuses: [ExitStatus] = []
    for path in paths.map(\.path) {
      do {
        statuses.append(try namingRejections(output) { try importOne(path, target, rejectsFile, output) })
      } catch let interruption as ImportInterruption {
        output.message("glucoport: \(ImportSummary.line(interruption, isDryRun: dryRun))")
      } catch let failure as Failure {
        let isInterrupted = SignalFlag.isRaised
        output.message("glucoport: \(failure.message)" + (isInterrupted ? "; nothing was stored" : ""))
        if !isInterrupted { statuses.append(ExitStatus(failure.category)) }
      }
      if let signal = SignalFlag.signal {
        // An input that was stored to its end before the signal ended as it did.
        if statuses.count < paths.count { statuses.append(ExitStatus(signal: signal)) }
        break
      }
    }
    try rejectsFile?.close()
    if let missing = rejectsFile?.missing, missing > 0 {
      output.message(
        "glucoport: \(counted(missing, "rejected row is", "rejected rows are")) not among those of --rejects; correct them in the input itself"
      )
    }
    try output.finish()
    let status = ExitStatus.of(statuses)
    if status != .done { throw status }
  }

  /// The file of `--rejects`; none for a dry run, which writes to no file at all.
  private func makeRejectsFile(_ output: Output) throws -> RejectsFile? {
    guard let rejects else { return nil }
    if rejects.path == RejectsFile.standardOutput { return RejectsFile(output) }
    if dryRun { return nil }
    return try RejectsFile(
      path: rejects.path, appends: rejectsAppend, apartFrom: paths.map(\.path) + [try storeOptions.path])
  }

  private func importOne(
    _ path: String, _ target: ImportTarget, _ rejectsFile: RejectsFile?, _ output: Output
  ) throws -> ExitStatus {
    var reader =
      try path == "-"
      ? ExportReader(descriptor: dup(STDIN_FILENO), name: "-", options: target.options)
      : ExportReader(path: path, options: target.options)
    if strict { try reader.spool() }
    let meter = ProgressMeter(output, isQuiet: quiet)
    let session = ImportSession(
      policy: policy, clock: Host.now,
      onProgress: { meter.show(Self.progress(path, $0, $1)) },
      onRejection: { try rejectsFile?.add($0, header: $1) }, isInterrupted: { SignalFlag.isRaised })
    let report: ImportReport
    do {
      report = try session.run(reader, into: target.store)
    } catch {
      meter.clear()
      throw error
    }
    meter.clear()
    return try tell(report, output)
  }

  /// How rejections are taken.
  var policy: ImportPolicy {
    var policy = ImportPolicy()
    policy.isStrict = strict
    policy.maxRejections = maxRejects
    return policy
  }

  /// Does an import; where rejections end it, they are reported, and then what ended.
  func namingRejections(_ output: Output, _ work: () throws -> ExitStatus) throws -> ExitStatus {
    do {
      return try work()
    } catch let stopped as RejectedInput {
      tell(stopped.rejections, of: stopped.count, in: stopped.source, output)
      output.message("glucoport: \(stopped.failure.message)")
      return ExitStatus(stopped.failure.category)
    }
  }

  /// Says what an input brought; gives its exit status.
  func tell(_ report: ImportReport, _ output: Output) throws -> ExitStatus {
    if json {
      try output.json(ImportObject(report, isDryRun: dryRun))
    } else if !quiet {
      let isOnOutput = rejects?.path == RejectsFile.standardOutput
      let rejectsFile = dryRun || isOnOutput ? nil : rejects?.path
      let lines = ImportSummary.lines(report, isDryRun: dryRun, rejectsFile: rejectsFile)
      // Standard output holds the rejected rows and nothing else.
      for line in lines { isOnOutput ? output.message(line) : output.line(line) }
    }
    return tellTroubles(report, output)
  }

  /// Says on standard error what was not imported; gives the exit status of this input.
  private func tellTroubles(_ report: ImportReport, _ output: Output) -> ExitStatus {
    tell(report.rejections, of: report.counts.rejected, in: report.source, output)
    if case .truncated(let line, let detail) = report.end {
      let place = line > 0 ? ":\(line)" : ""
      output.message(
        "\(displayed(report.source))\(place): \(detail); what was whole is stored, import the whole file again"
      )
      return .badInput
    }
    return report.counts.rejected > 0 ? .partial : .done
  }

  /// Names the first of so many rejections.
  private func tell(_ rejections: [Rejection], of count: Int, in source: String, _ output: Output) {
    for rejection in rejections {
      output.message("\(displayed(source)):\(rejection.line): \(rejection.reason)")
    }
    let more = count - rejections.count
    if more > 0 { output.message("\(displayed(source)): and \(counted(more, "more rejected row"))") }
  }

  /// `--map` as roles and columns.
  func columns() throws -> [String: String] {
    guard let map else { return [:] }
    guard let pairs = ColumnPairs.parse(map) else {
      throw ValidationError("--map takes role=column pairs, such as time=ts,value=mgdl.")
    }
    return Dictionary(pairs.map { ($0.name, $0.value) }) { _, last in last }
  }

  /// `--where` as columns and their values.
  func rowFilters() throws -> [RowFilter] {
    try rowsWhere.map { text in
      guard let pairs = ColumnPairs.parse(text), pairs.count == 1 else {
        throw ValidationError(#"--where takes COLUMN=VALUE; put \ in front of a comma."#)
      }
      return RowFilter(column: pairs[0].name, value: pairs[0].value)
    }
  }

  /// The command up to the options about an input, as a hint repeats it.
  var start: String {
    var words = ["glucoport", "import"]
    if let store = storeOptions.store { words += ["--store", store.path] }
    if let maxRejects { words += ["--max-rejects", String(maxRejects)] }
    for (flag, isSet) in [("--strict", strict), ("--dry-run", dryRun), ("--json", json), ("--quiet", quiet)]
    where isSet { words.append(flag) }
    return words.map(\.shellWord).joined(separator: " ")
  }

  private static func progress(
    _ path: String, _ counts: IngestCounts, _ progress: (done: Int64, total: Int64?)
  ) -> String {
    let part =
      progress.total.map { $0 > 0 ? "\(min(100, progress.done * 100 / $0)) %" : "" }
      ?? "\(progress.done / 1024) KiB"
    return "\(displayed(path)): \(part) · \(counted(counts.readings, "reading"))"
  }
}
