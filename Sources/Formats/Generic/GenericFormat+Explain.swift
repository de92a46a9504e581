// SPDX-License-Identifier: Apache-2.0

import Logbook

extension GenericFormat {
  /// Recognises an input by the columns that a person named in `--map`.
  ///
  /// - Throws: `Failure` of category `usage` for an unknown role, `badInput` for a missing column.
  static func recogniseNamed(
    _ head: InputHead, options: ExportOptions
  ) throws -> Recognition<GenericFinding> {
    let map = options.columns
    for role in map.keys.sorted() where GenericRole(name: role) == nil {
      let roles = GenericRole.allCases.map(\.name).joined(separator: ", ")
      throw Failure(.usage, "--map has no role '\(role)'; the roles are \(roles)")
    }
    let hasTime = map["time"] != nil || map["utc"] != nil || (map["date"] != nil && map["clock"] != nil)
    if map["utc"] != nil, map["time"] != nil || map["date"] != nil {
      throw Failure(.usage, "--map names local times and times in UTC (utc); name the column of one of them")
    }
    guard hasTime, ["value", "ketone", "carbs", "insulin", "note"].contains(where: { map[$0] != nil }) else {
      throw Failure(
        .usage, "--map must name the column time (or utc, or date and clock), and value or another to read")
    }
    if map["smbg"] != nil, map["value"] == nil {
      throw Failure(
        .usage,
        "--map smbg=COLUMN is for finger sticks beside the values of a sensor; without those use value=COLUMN and --kind smbg"
      )
    }
    guard let finding = GenericFinding.find(head, GenericFinding.ColumnRequest(options)) else {
      let names = options.rows.isEmpty ? "--map names" : "--map and --where name"
      throw Failure(
        .badInput,
        "no header has the columns that \(names); \(seenColumns(head) ?? noHeader)\(example(head, options))")
    }
    if !options.force {
      try finding.requireBloodKetones()
      try finding.requireAmounts()
      try finding.requireKnownKindsOfDoses(ImportHint(options: options))
    }
    if let problem = finding.cbgProblem(given: options.kind) {
      let advice = GenericAdvice(head: head, options: options, finding: finding).text(for: problem)
      throw Failure(.badInput, problem.text + advice)
    }
    return recognition(finding)
  }

  /// An example of a command with columns of the input, to follow an error message; empty if no such columns
  /// are known.
  private static func example(_ head: InputHead, _ options: ExportOptions) -> String {
    var options = options
    options.columns = [:]
    options.rows = []
    let found = GenericFinding.find(head, GenericFinding.ColumnRequest())
    guard let finding = found ?? GenericFinding.findByCells(head), finding.hasTimes else { return "" }
    let names = finding.header.names.indices
    let value =
      finding.columns[.value] >= 0
      ? finding.columns[.value]
      : finding.problem?.choices.first?[.value]
        ?? names.first { !finding.columns.isUsed($0) && finding.header.content($0) == .number } ?? -1
    if let reason = finding.reasonAgainstHint(forValuesIn: value) { return reason }
    for (role, place) in [
      (GenericRole.time, finding.columns[.time]), (.date, finding.columns[.date]),
      (.clock, finding.columns[.clock]), (.value, value),
    ] where place >= 0 {
      guard let name = finding.nameInCommands(place) else { return "" }
      options.columns[role.name] = name
    }
    guard options.columns["value"] != nil, options.columns.count > 1 else { return "" }
    return ". For example:\n  " + ImportHint(options: options).command
  }

  private static let noHeader =
    "the table has no header line; add one that names each column, such as: time,glucose (mg/dL)"

  /// Keys in the JSON with which a server refuses a request.
  private static let errorKeys: Set<String> = [
    "message", "error", "errors", "status", "statuscode", "code", "detail",
  ]

  /// The description of an input that has no known format, with advice; nil if there is nothing to report.
  static func explain(_ head: InputHead, options: ExportOptions) -> String? {
    if isErrorAnswer(head) { return "this is an error message of a server, not an export; download it again" }
    if head.isJSON, head.objects.isEmpty { return "this JSON contains no object that can be read" }
    let found = GenericFinding.find(head, GenericFinding.ColumnRequest(options))
    let request = GenericFinding.ColumnRequest(options)
    guard let finding = found ?? GenericFinding.findByCells(head, request),
      let problem = finding.problem ?? finding.unnamedTimesProblem
    else {
      if GenericFinding.lacksHeader(head) { return "unknown format: \(noHeader)" }
      return GenericFinding.namesGlucose(head)
        ? "unknown format: a column is named for glucose, but none holds dates with times of day; also export those"
        : nil
    }
    if !head.isJSON, finding.header.isProse { return nil }
    let holdsLists = head.objects.contains { $0.values.contains { $0.hasPrefix("[{") || $0.hasPrefix("[[") } }
    if head.isJSON, holdsLists || (problem.choices.isEmpty && !finding.hasTimes) {
      return "unknown format: no list in this JSON has objects with a time and a "
        + "glucose value together"
    }
    let advice = GenericAdvice(head: head, options: options, finding: finding).text(for: problem)
    return
      "unknown format, and as a table: \(problem.text) (\(columns(of: finding)))\(advice)"
  }

  /// The columns of the row that is most similar to a header, as text for a message.
  private static func seenColumns(_ head: InputHead) -> String? {
    (GenericFinding.find(head, GenericFinding.ColumnRequest()) ?? GenericFinding.findByCells(head)).map(
      columns)
  }

  private static func columns(of finding: GenericFinding) -> String {
    "columns: " + finding.quoted(finding.header.names.indices.filter { !finding.header.names[$0].isEmpty })
  }

  /// Whether the input is only one object with an error message.
  private static func isErrorAnswer(_ head: InputHead) -> Bool {
    guard head.isJSON, head.objects.count == 1, let keys = head.objects.first?.keys, keys.count <= 8 else {
      return false
    }
    let names = keys.map { $0.lowercased() }
    return names.contains(where: errorKeys.contains)
      && !names.contains { HeaderWords($0).isGlucose || HeaderWords($0).isValue }
  }

  /// Whether the input is an empty JSON list, with or without an envelope: an export without items.
  static func isEmptyList(_ head: InputHead) -> Bool {
    if ServerAnswer.isEmpty(head) { return true }
    guard head.isJSON, head.isWhole, head.objects.isEmpty else { return false }
    let text = head.lines.joined().filter { !$0.isWhitespace }
    return text == "[]" || (text.hasPrefix("{\"") && text.hasSuffix("}") && text.contains(":[]"))
  }
}
