// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Doctor
import Logbook

/// `glucoport doctor`: checks what an import, a meter and an upload need, and prints the commands for
/// repairs.
struct DoctorCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check program, store, clock, meters, remote and jobs; change nothing.",
    discussion: helpText(
      examples: "glucoport doctor --deep --against backup.db",
      "glucoport doctor --deep --online --json"))

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Check every page, reference and attachment of the store.")
  var deep = false

  @Option(
    help: ArgumentHelp(
      "With --deep, compare readings and records with those of another copy of the store.", valueName: "copy")
  )
  var against: String?

  @Flag(help: "Ask the server for its logbook, and compare the clocks.")
  var online = false

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func validate() throws {
    guard deep || against == nil else { throw ValidationError("--against needs --deep.") }
  }

  func run() async throws {
    let output = Output()
    let facts = await DoctorFacts(store: storeOptions, isDeep: deep, against: against, isOnline: online)
      .gather()
    let findings = Checkup(facts).findings
    for finding in findings {
      try output.result(asJSON: json, DoctorObject(finding), orLines: [DoctorText.line(finding)])
    }
    try output.finish()
    let status = ExitStatus.of(findings.map(DoctorText.status))
    if status != .done { throw status }
  }
}

/// A finding, as text and as an exit status.
enum DoctorText {
  static func line(_ finding: Finding) -> String {
    let state = finding.state.rawValue
    let blanks = String(repeating: " ", count: max(1, 6 - state.count))
    let fix = finding.fix.map { "; run: \(displayed($0))" } ?? ""
    return "\(state)\(blanks)\(finding.area.rawValue): \(displayed(finding.detail))\(fix)"
  }

  /// The exit status if this is the worst finding.
  static func status(_ finding: Finding) -> ExitStatus {
    switch finding.state {
    case .ok, .note: .done
    case .warn: .failed
    case .fail: finding.category.map(ExitStatus.init) ?? .failed
    }
  }
}

/// A finding, as `doctor --json` prints it; glucoport-json(5) documents its members.
private struct DoctorObject: Encodable {
  let check: String
  let state: String
  let detail: String
  let fix: String?

  init(_ finding: Finding) {
    check = finding.area.rawValue
    state = finding.state.rawValue
    detail = PathText.shown(finding.detail)
    fix = finding.fix
  }
}
