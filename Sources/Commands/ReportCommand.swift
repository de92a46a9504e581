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

/// `glucoport report`: figures and pictures of a period in one HTML file.
struct ReportCommand: ClassifiedCommand {
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
      "The language of the page: \(alternatives(PageTexts.all.map(\.code))).", valueName: "language"))
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
  var target: PathArgument

  @Flag(help: "Replace an existing file.")
  var force = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    if target.path == "" { throw ValidationError("--output needs the name of a file.") }
    if let named = ReportForm(nameOf: target.path), named != format {
      throw ValidationError(
        "'\(PathText.shown(target.path))' is the name of \(named.title) file, and this report is \(format.title) file: add --format \(named.rawValue), or use another name."
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
    // Also checked before the page is created.
    let protected = ProtectedFiles(store: store.path, remote: try store.remote())
    if target.path != "-" { try protected.refuse(target.path) }
    let (html, summary) = try html(store, output)
    let page = try printer?.pdf(of: html) ?? Array(html.utf8)
    if target.path == "-" {
      output.write(page)
    } else {
      try SavedFile(path: target.path, replaces: force, protected: protected).write { sink in
        try page.withUnsafeBytes { try sink($0) }
      }
    }
    try output.finish()
    if !quiet {
      let name = target.path == "-" ? "standard output" : displayed(target.path)
      output.message("glucoport: wrote the report to \(name): \(summary)")
    }
  }

  private var texts: PageTexts? { PageTexts.all.first { $0.code == language } }

  /// The page, and its period with the number of its readings.
  private func html(_ store: Store, _ output: Output) throws -> (page: String, summary: String) {
    var (query, unit) = try look.query(store)
    query.options.grouping = .day
    query.options.hasProfile = true
    query.recordKinds = DayTally.recordKinds
    try period.apply(to: &query)
    try query.gatherLastDays(ReportContents.maxDays)
    let view = try query.view(unit: unit)
    try look.note(query, view, output, endsWithReadings: period.endsWithReadings) { _ in
      storeOptions.words("report") + ["--last", "14d", "--output", target.path]
    }
    guard let shown = view.result.period else {
      let place = period.endsWithReadings ? "" : " in this period"
      throw Failure(
        .missingInput,
        "\(displayed(store.path)): no readings and no records\(place); there is nothing to report")
    }
    let dates = [shown.start, shown.end - 1].map { String(view.shown($0).text.prefix(10)) }
    let contents = ReportContents(
      view, dates: (dates[0], dates[1]), device: look.device, isAnonymised: anonymise)
    let summary = "\(dates[0]) to \(dates[1]), \(counted(PeriodNote.readings(view), "reading"))"
    return (try ReportPage(contents, texts ?? .english).html(), summary)
  }
}
