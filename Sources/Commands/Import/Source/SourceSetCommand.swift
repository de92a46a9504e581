// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook
import LogbookStore
import Remotes

/// `glucoport source set`: asks a source once, and shows whose data it has. If a person agrees, the source is
/// stored.
struct SourceSetCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "set", "Set a place from which 'glucoport fetch' imports.",
    """
    The source is asked once: whose data it has is shown, and you are asked whether they are the right \
    ones. A secret is never an argument: it is the first line of a file that only you can read, or of the \
    output of a command. Write the program of a command and its arguments after --.
    """,
    examples: "glucoport source set site --type nightscout https://ns.example.org --token-file ns.token",
    "glucoport source set libre --type command --patient 4b2c -- python3 recipe.py")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The name of the source: letters, digits and hyphens.")
  var name: String

  @Argument(
    help: ArgumentHelp(
      "The address, or after -- the program of a command and its arguments.", valueName: "place"))
  var place: [String] = []

  @Option(help: ArgumentHelp("Source type: nightscout, http or command.", valueName: "type"))
  var type: SourceType

  @Option(
    help: ArgumentHelp("File whose first line is the token or the password.", valueName: "file"),
    completion: .file())
  var tokenFile: String?

  @Option(help: ArgumentHelp("Shell command that prints the token or the password.", valueName: "command"))
  var tokenCommand: String?

  @Option(help: ArgumentHelp("The user whose password it is, for basic authentication.", valueName: "user"))
  var user: String?

  @Option(help: ArgumentHelp("The header that has the token, such as api-secret.", valueName: "header"))
  var header: String?

  @OptionGroup var certificates: CertificateOptions

  @Flag(help: "Allow http to another machine; anyone on the network can read data and token.")
  var insecureHttp = false

  @Option(
    help: ArgumentHelp(
      "The id of the person whose items to fetch, if answers have several persons or name none.",
      valueName: "id"))
  var patient: String?

  @Option(
    help: ArgumentHelp("Read answers in this format instead of detecting it.", valueName: "format"),
    completion: .formats)
  var format: String?

  @Option(help: ArgumentHelp("Unit of values that state none: mg/dL or mmol/L.", valueName: "unit"))
  var unit: GlucoseUnit?

  @Option(help: ArgumentHelp("Time zone of times without an offset.", valueName: "zone"), completion: .zones)
  var timezone: String?

  @Option(
    help: ArgumentHelp("Order of day and month in dates: dmy or mdy.", valueName: "order"),
    completion: .list(["dmy", "mdy"]))
  var dateOrder: String?

  @Option(help: ArgumentHelp("Model of the device, if answers name none.", valueName: "model"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Minimum time between two fetches by jobs: 5m, 1h. Default: 5m for http, else 15m.", valueName: "time"))
  var interval: DurationArgument?

  @Option(
    help: ArgumentHelp("End a fetch after this time: 90s, 10m. Default: 3m.", valueName: "time"))
  var maxTime: DurationArgument?

  @Flag(help: "Do not ask whether these are the right data.")
  var yes = false

  @Flag(help: "Accept answers that state another person than earlier imports.")
  var acceptPerson = false

  func validate() throws {
    guard SourceSetCommand.isName(name) else {
      throw ValidationError("The name of a source has letters, digits and hyphens, at most 32.")
    }
    if tokenFile != nil, tokenCommand != nil {
      throw ValidationError("Use one of --token-file and --token-command.")
    }
    let hasToken = tokenFile != nil || tokenCommand != nil
    if user != nil, header != nil { throw ValidationError("Use one of --user and --header.") }
    if user != nil || header != nil, !hasToken {
      throw ValidationError("--user and --header need --token-file or --token-command.")
    }
    if let header, !SourceLogin.Credential.isHeaderName(header) {
      throw ValidationError("--header is the name of a header that may have a secret, such as api-secret.")
    }
    if let user, user.isEmpty || user.contains(":") || user.contains(where: \.isNewline) {
      throw ValidationError("--user is a name without a colon.")
    }
    if let dateOrder, !["dmy", "mdy"].contains(dateOrder) {
      throw ValidationError("--date-order is dmy or mdy.")
    }
    if let format, !FormatRegister.all.contains(where: { $0.id == format }) {
      throw FormatName.unknown(format)
    }
    if let interval, !(60...7 * 86400).contains(interval.seconds) {
      throw ValidationError("--interval is 1m to 168h.")
    }
    if let maxTime, maxTime.seconds == 0 { throw ValidationError("--max-time must be at least one second.") }
    if let patient, patient.isEmpty || patient.count > 100 {
      throw ValidationError("--patient is the id of a person.")
    }
    try validatePlace(hasToken)
  }

  private func validatePlace(_ hasToken: Bool) throws {
    switch type {
    case .command:
      guard !place.isEmpty else {
        throw ValidationError("State the program and its arguments after --.")
      }
      if hasToken || certificates.isGiven || insecureHttp {
        throw ValidationError(
          "A command reads its secrets itself; use it without options for tokens and connections.")
      }
    case .http, .nightscout:
      guard place.count == 1 else { throw ValidationError("State one address.") }
      if type == .nightscout, !hasToken {
        throw ValidationError("A Nightscout site needs an access token: --token-file or --token-command.")
      }
      if type == .nightscout, user != nil || header != nil || format != nil || unit != nil || device != nil {
        throw ValidationError("A Nightscout site has no --user, --header, --format, --unit and --device.")
      }
    }
  }

  private static func isName(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count) && !text.hasPrefix("-")
      && text.utf8.allSatisfy {
        ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == 0x2D
      }
  }

  func run() async throws {
    let output = Output()
    let path = try storeOptions.path
    let existing = try storeOptions.existing()
    var setting = SourceSetting(name: name, access: try access())
    setting.state.acceptsPerson = acceptPerson
    setting.state.setAt = Host.now()
    if let remote = try existing?.remote() { try SourceRemote.refuse(setting.access, as: remote.access) }
    if !acceptPerson { try OthersPlaces(path)?.refuse(setting, for: existing) }
    guard yes || Confirmation.canAsk else {
      throw Failure(
        .usage,
        "no terminal to ask whether these are the right data; look with --yes and then at 'glucoport list'")
    }
    let preview: SourcePreview
    do { preview = try await SourcePreview(setting, for: existing) } catch let failed as SourceRequest.Failed
    {
      throw failed.error.failure
    }
    if !acceptPerson {
      try InputPerson(preview.contents.persons, of: "source \(name)", for: existing, at: path).require()
    }
    output.line(SourceText.title(setting))
    for line in preview.lines { output.line("  \(line)") }
    if !yes {
      guard output.writeBuffer() else { return }
      try Confirmation.require(
        "Import these data into \(displayed(path)), also in future?", otherwise: "the source was not set",
        output)
    }
    let store = try storeOptions.openOrCreate(.importer, output)
    try store.setSource(setting)
    output.line("  set; 'glucoport fetch' imports it")
    try FailureAfterRemoteChange.wrapFailures { try output.finish() }
  }

  /// The access to the source that the options describe.
  ///
  /// - Throws: `Failure`: `configuration` for an invalid address, `missingInput` for an unknown program.
  private func access() throws -> SourceAccess {
    var access = SourceAccess(type: type.rawValue, intervalSeconds: interval?.seconds ?? type.intervalSeconds)
    switch type {
    case .command: access.command = [try Host.program(named: place[0])] + place.dropFirst()
    case .http: access.url = try SourceAddress(place[0], allowsPlainHTTP: insecureHttp).text
    case .nightscout: access.url = try RemoteAddress(place[0], allowsPlainHTTP: insecureHttp).text
    }
    access.tokenFile = tokenFile.map(Host.standardPath)
    access.tokenCommand = tokenCommand
    (access.user, access.header) = (user, header)
    access.allowsPlainHTTP = insecureHttp
    access.authorities = certificates.authorities
    access.clientCertificate = certificates.client?.certificateFile
    access.clientKey = certificates.client?.keyFile
    (access.patient, access.format, access.unit) = (patient, format, unit?.name)
    access.timezone = try timezone.map { try LogbookZone(name: $0).name }
    (access.dateOrder, access.device) = (dateOrder, device)
    access.maxSeconds = maxTime?.seconds
    return access
  }

}
