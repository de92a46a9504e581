// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Report

/// The forms in which `report` writes its page.
enum ReportForm: String, ExpressibleByArgument, CaseIterable {
  case html, pdf

  /// The form for the suffix of a file's name; nil for any other suffix.
  init?(nameOf path: String) {
    switch path.split(separator: "/").last?.split(separator: ".").dropFirst().last?.lowercased() {
    case "html"?, "htm"?, "xhtml"?: self = .html
    case "pdf"?: self = .pdf
    default: return nil
    }
  }

  var title: String {
    switch self {
    case .html: "an HTML"
    case .pdf: "a PDF"
    }
  }
}

/// `glucoport report`: a page with figures and pictures of a period, in one HTML file.
struct ReportCommand: PersonVisitor {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Write a page with figures and curves as one HTML file.",
    discussion: helpText(
      """
      The page has no script and fetches nothing; a browser shows and prints it. Not a medical device: do \
      not base treatment on it.
      """,
      examples: "glucoport report --last 14d -o report.html",
      "glucoport report --since 2026-01-01 --until 2026-04-01 --language de --anonymise -o bericht.html"))

  @OptionGroup var storeOptions: StoreOptions

  @OptionGroup var period: PeriodOptions
  @OptionGroup var look: LookOptions

  @Option(
    help: ArgumentHelp(
      "The language of the page: \(alternatives(PageTexts.all.map(\.code))).", valueName: "language"),
    completion: .languages)
  var language = PageTexts.english.code

  @Flag(help: "Leave out serial numbers, names and notes; dates stay.")
  var anonymise = false

  @Option(
    help: ArgumentHelp(
      "html, or pdf with Chromium or WeasyPrint installed.", valueName: "form"))
  var format = ReportForm.html

  @Option(
    name: [.customLong("output"), .customShort("o")],
    help: ArgumentHelp("Write to this file; - is standard output.", valueName: "file"))
  var output: PathArgument?

  @Option(
    help: ArgumentHelp(
      "Write a file for each person, with the name of the person, into this folder.", valueName: "folder"))
  var all: PathArgument?

  @Flag(help: "Replace an existing file.")
  var force = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  var visitsAll: Bool { all != nil }
  var needsNoHeading: Bool { true }

  func validate() throws {
    guard (output == nil) != (all == nil) else {
      throw ValidationError("Name a file with --output, or a folder with --all.")
    }
    if (output ?? all)?.path == "" { throw ValidationError("--output needs the name of a file.") }
    if let path = output?.path, let named = ReportForm(nameOf: path), named != format {
      throw ValidationError(
        "'\(PathText.shown(path))' is the name of \(named.title) file, and this report is \(format.title) file: add --format \(named.rawValue), or use another name."
      )
    }
    if texts == nil {
      throw ValidationError(
        "Unknown language '\(language)'; use \(alternatives(PageTexts.all.map(\.code))).")
    }
  }

  func run() throws {
    let output = Output()
    // Before the store is read, check whether a PDF can be created.
    let printer = format == .pdf ? try PagePrinter() : nil
    let store = try storeOptions.open(.reader)
    let path = try all.map { try file(in: $0.path, of: store) } ?? self.output?.path ?? "-"
    // Refused before the page is made, too.
    let protected = ProtectedFiles(store: store.path, remote: try store.remote())
    if path != "-" { try protected.refuse(path) }
    let (html, summary) = try html(store, path, output)
    let page = try printer?.pdf(of: html) ?? Array(html.utf8)
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

  /// The file of a person's report in a folder.
  private func file(in folder: String, of store: Store) throws -> String {
    guard Host.isFolder(folder) else {
      throw Failure(.missingInput, "\(displayed(folder)): No such folder; create it first")
    }
    let base = store.path.split(separator: "/").last.map(String.init) ?? "report"
    let name = storeOptions.person ?? (base.hasSuffix(".db") ? String(base.dropLast(3)) : base)
    return (folder.hasSuffix("/") ? folder : folder + "/") + name + "." + format.rawValue
  }

  private var texts: PageTexts? { PageTexts.all.first { $0.code == language } }

  /// The page, and its period with the number of its readings.
  private func html(_ store: Store, _ path: String, _ output: Output) throws -> (
    page: String, summary: String
  ) {
    var (query, unit) = try look.query(store)
    query.options.grouping = .day
    query.options.hasProfile = true
    query.recordKinds = DayTally.recordKinds
    try period.apply(to: &query)
    try query.gatherLastDays(ReportContents.maxDays)
    let view = try query.view(unit: unit)
    try look.note(query, view, output, endsWithReadings: period.endsWithReadings) { _ in
      storeOptions.words("report") + ["--last", "14d", "--output", path]
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
    if !anonymise {
      contents.personName = try store.personName() ?? (all == nil ? nil : storeOptions.person)
      contents.personBorn = try store.personBorn()
    }
    let summary = "\(dates[0]) to \(dates[1]), \(counted(PeriodNote.readings(view), "reading"))"
    return (try ReportPage(contents, texts ?? .english).html(), summary)
  }
}
