// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Report

/// The parts of a report that the option `--pages` selects.
struct PagesArgument {
  /// The word that selects every part for which there are data.
  private static let all = "all"
  static var names: [String] { ReportPart.allCases.map(\.rawValue) + [all] }

  /// The selected parts; nil for all.
  private let parts: Set<ReportPart>?

  /// Reads the argument; nil for a text that contains an unknown name.
  init?(_ text: String) {
    if text == Self.all {
      parts = nil
      return
    }
    let named = text.split(separator: ",", omittingEmptySubsequences: false).map {
      ReportPart(rawValue: String($0))
    }
    guard !named.contains(nil) else { return nil }
    parts = Set(named.compactMap(\.self))
  }

  /// The selected parts of a page, in their order.
  func parts(of page: ReportPage) -> [ReportPart] {
    parts.map { parts in ReportPart.allCases.filter(parts.contains) } ?? page.allParts
  }
}

/// The command `report`, which writes a page with figures and pictures of a period, as HTML or PDF.
struct ReportCommand: PersonVisitor {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "report", "Write a page with figures and curves as HTML or PDF.",
    """
    The first sheet has the figures that a clinic reads first. Not a medical device: do not base \
    treatment on it.
    """,
    examples: "glucoport report --name 'Ada Example' -o report.pdf",
    "glucoport report --since 2026-01-01 --until 2026-04-01 --language de --anonymise -o bericht.html")

  @OptionGroup var storeOptions: StoreOptions

  @OptionGroup var period: PeriodOptions
  @OptionGroup var look: LookOptions

  @Option(
    help: ArgumentHelp(
      "The language of the page: \(alternatives(PageTexts.all.map(\.code))).", valueName: "language"),
    completion: .languages)
  var language = PageTexts.english.code

  @Option(help: ArgumentHelp("The name of the person, on each sheet.", valueName: "name"))
  var name: String?

  @Flag(help: "Leave out names and notes; days have numbers instead of dates.")
  var anonymise = false

  @Option(
    help: ArgumentHelp(
      "The pages: \(alternatives(PagesArgument.names)), separated by commas. Default: the summary, and days and log with data for them.",
      valueName: "pages"), completion: .commaSeparated(PagesArgument.names))
  var pages: String?

  @Option(
    help: ArgumentHelp(
      "The paper of a PDF: \(alternatives(Paper.allCases.map(\.rawValue))).", valueName: "paper"),
    completion: .list(Paper.allCases.map(\.rawValue)))
  var paper = Paper.a4.rawValue

  @Option(
    help: ArgumentHelp("html or pdf. Default: by the name of the file, else html.", valueName: "form"))
  var format: ReportForm?

  @Option(
    name: [.customLong("output"), .customShort("o")],
    help: ArgumentHelp("Write to this file; - is standard output.", valueName: "file"))
  var output: PathArgument?

  @Option(
    help: ArgumentHelp(
      "Write a file for each person, with the name of the person, into this folder.", valueName: "folder"),
    completion: .directory)
  var all: PathArgument?

  @Flag(help: "Replace an existing file.")
  var force = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  /// The lengths in days for which a period is compared with the period before it. For a longer period,
  /// reading the earlier period would take most of the time that the page may need.
  private static let comparedDays = 7...31

  /// The suffixes of file formats that a person may expect, but that a report does not support. A file with
  /// any other suffix gets HTML.
  private static let otherSuffixes: Set<Substring> = [
    "csv", "tsv", "txt", "json", "ndjson", "xml", "doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "png",
    "jpg", "jpeg", "svg", "zip", "db",
  ]

  /// Whether the suffix of a file name means a file format that a report does not support.
  private static func isOfAnotherForm(_ path: String) -> Bool {
    let suffix = path.lowercased().split(separator: "/").last?.split(separator: ".").dropFirst().last
    return suffix.map(otherSuffixes.contains) ?? false
  }

  var visitsAll: Bool { all != nil }
  var needsNoHeading: Bool { true }

  func validate() throws {
    guard (output == nil) != (all == nil) else {
      throw ValidationError("Name a file with --output, or a folder with --all.")
    }
    if (output ?? all)?.path == "" { throw ValidationError("--output needs the name of a file.") }
    if Self.isOfAnotherForm(outputPath) {
      throw ValidationError(
        "'\(PathText.shown(outputPath))' is not the name of a report, whose forms are .html and .pdf; 'glucoport stats --format csv' prints figures as a table, and 'glucoport export' the data."
      )
    }
    if let format, let named = ReportForm(nameOf: outputPath), named != format {
      throw ValidationError(
        "'\(PathText.shown(outputPath))' is the name of \(named.title) file, and --format \(format.rawValue) makes \(format.title) file: leave out --format, or use another name."
      )
    }
    if texts == nil {
      throw ValidationError(
        "Unknown language '\(language)'; use \(alternatives(PageTexts.all.map(\.code))).")
    }
    if let pages, PagesArgument(pages) == nil {
      throw ValidationError(
        "Unknown pages '\(pages)'; use \(alternatives(PagesArgument.names)), separated by commas.")
    }
    if Paper(rawValue: paper) == nil {
      throw ValidationError("Unknown paper '\(paper)'; use \(alternatives(Paper.allCases.map(\.rawValue))).")
    }
    if let name, name.allSatisfy(\.isWhitespace) { throw ValidationError("--name needs a name.") }
    if name != nil, anonymise { throw ValidationError("Use --name or --anonymise, not both.") }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    let path = try all.map { try file(in: $0.path, of: store) } ?? outputPath
    // `SavedFile` checks the path, too. This check refuses a protected file before the page is created, which
    // takes time.
    let protected = ProtectedFiles(store: store.path, remote: try store.remote())
    if path != "-" { try protected.refuse(path) }
    let (page, summary) = try page(store, path, output)
    if path == "-" {
      output.write(page)
    } else {
      try SavedFile(path: path, replaces: force, protected: protected).write { sink in
        try page.withUnsafeBytes { try sink($0) }
      }
    }
    try output.finish()
    if !quiet {
      let name = path == "-" ? "standard output" : displayed(path)
      output.message("glucoport: wrote the report to \(name): \(summary)")
    }
  }

  /// The path of a person's report in a folder.
  private func file(in folder: String, of store: Store) throws -> String {
    guard Host.isFolder(folder) else {
      throw Failure(.missingInput, "\(displayed(folder)): No such folder; create it first")
    }
    let base = store.path.split(separator: "/").last.map(String.init) ?? "report"
    let name = storeOptions.person ?? (base.hasSuffix(".db") ? String(base.dropLast(3)) : base)
    return (folder.hasSuffix("/") ? folder : folder + "/") + name + "." + form.rawValue
  }

  private var texts: PageTexts? { PageTexts.all.first { $0.code == language } }

  private var outputPath: String { output?.path ?? "-" }

  /// The file format of the report: that of the option, or that which the file's name shows; otherwise HTML.
  private var form: ReportForm { format ?? ReportForm(nameOf: outputPath) ?? .html }

  /// The person whose name is printed on the report; nil without a name.
  private func person(of store: Store) throws -> ReportPerson? {
    let named = try name ?? store.personName() ?? (all == nil ? nil : storeOptions.person)
    guard let named, !anonymise else { return nil }
    // The date of birth in the settings belongs to the name in the settings. It is not used with another
    // name.
    let isOther = try name != nil && name != store.personName()
    return ReportPerson(name: named, born: try isOther ? "" : store.personBorn() ?? "")
  }

  /// The bytes of the page, and a text with its period and the number of its readings.
  private func page(
    _ store: Store, _ path: String, _ output: Output
  ) throws -> (page: [UInt8], summary: String) {
    var (query, unit) = try look.query(store)
    query.options.grouping = .day
    query.options.hasProfile = true
    query.recordKinds = DayTally.recordKinds
    try period.apply(to: &query)
    try query.gatherLastDays(ReportContents.maxLogDays, curves: ReportContents.maxDays)
    let view = try query.view(unit: unit)
    try look.printNotes(query, view, output, endsWithReadings: period.endsWithReadings) { _ in
      storeOptions.words("report") + ["--last", "14d", "--output", path] + repeated
    }
    guard let shown = view.result.period else {
      let place = period.endsWithReadings ? "" : " in this period"
      throw Failure(
        .missingInput,
        "\(displayed(store.path)): no readings and no records\(place); there is nothing to report")
    }
    let dates = [shown.start, shown.end - 1].map { String(view.shown($0).text.prefix(10)) }
    var contents = ReportContents(
      view, dates: (dates[0], dates[1]), device: look.device, isAnonymised: anonymise)
    contents.person = try person(of: store)
    contents.missing = try missing(in: store, view, shown)
    contents.earlier = try earlier(in: store, shown, days: view.result.total.days)
    let summary = "\(dates[0]) to \(dates[1]), \(counted(PeriodNote.readings(view), "reading"))"
    return (try bytes(ReportPage(contents, texts ?? .english), output), summary)
  }

  /// The figures of a period of the same length before this one; nil if the period is too short or too long
  /// to compare.
  private func earlier(
    in store: Store, _ period: Period, days: Int
  ) throws -> (figures: GroupFigures, dates: (first: String, last: String))? {
    guard Self.comparedDays.contains(days) else { return nil }
    var query = try look.query(store).query
    query.recordKinds = []
    let dates = query.setPeriod(before: period, days: days)
    let figures = try query.view(unit: nil).result.total
    return (figures, (String(dates.first.text.prefix(10)), String(dates.last.text.prefix(10))))
  }

  /// The periods for which the sources have no readings, limited to the period of the report.
  private func missing(in store: Store, _ view: StatsView, _ period: Period) throws -> [MissingTime] {
    let holes = Set(try store.sourcesWithHoles().flatMap(\.state.holes)).sorted { $0.from < $1.from }
    return holes.filter { $0.from < period.end && $0.until > period.start }.map { hole in
      MissingTime(
        from: view.shown(max(hole.from, period.start)), until: view.shown(min(hole.until, period.end)))
    }
  }

  /// The options that a command for another period must repeat.
  private var repeated: [String] {
    (pages.map { ["--pages", $0] } ?? []) + (name.map { ["--name", $0] } ?? [])
      + (anonymise ? ["--anonymise"] : [])
      + (language == PageTexts.english.code ? [] : ["--language", language])
      + (format.map { ["--format", $0.rawValue] } ?? [])
      + (paper == Paper.a4.rawValue ? [] : ["--paper", paper])
  }

  private func bytes(_ page: ReportPage, _ output: Output) throws -> [UInt8] {
    let parts = pages.flatMap { PagesArgument($0) }?.parts(of: page) ?? page.usualParts
    guard form == .pdf else { return Array(try page.html(parts).utf8) }
    let (bytes, missing) = page.pdf(parts, Paper(rawValue: paper) ?? .a4)
    if let letters = ReportForm.list(missing) {
      output.message(
        "glucoport: the font of the PDF lacks \(letters), so it has ? instead; for these letters write an HTML page"
      )
    }
    return bytes
  }
}
