// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import Logbook
import LogbookAPI
public import LogbookServer
import ServerStore

/// The option that every command of a server has.
struct DataOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder with everything the server keeps; else 'server' in the data folder.", valueName: "folder"),
    completion: .directory)
  var data: String?

  /// The path of that folder.
  ///
  /// - Throws: `Failure` of category `configuration` when nothing says where it is.
  var path: String {
    get throws {
      if let path = data ?? Host.dataFolder.map({ $0 + "/server" }) { return path }
      throw Failure(
        .configuration,
        "nothing says where the server keeps its data: set HOME or XDG_DATA_HOME to a folder's whole path, or name the folder with --data"
      )
    }
  }
}

extension ListeningAddress: ExpressibleByArgument {
  /// The address that an argument names; nil for anything else.
  public init?(argument: String) { self.init(text: argument) }
  /// The address as an argument, for help.
  public var defaultValueDescription: String { "\(host):\(port)" }
}

extension DataOptions {
  /// Who may use the server, also beside one that runs.
  ///
  /// - Throws: `Failure`, as `EmbeddedStorage` does.
  var logins: any LoginDirectory {
    get throws { try Logins(folder: path) }
  }
}

/// `glucoport serve`: the server that stores sync with.
struct ServeCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve logbooks, so that several stores can be kept in step.",
    discussion: """
      Serves until SIGTERM or SIGINT, then finishes the requests at work. 'glucoport serve token add' makes the \
      tokens that clients show; it works beside a running server.
      """,
    subcommands: [ServeTokenCommand.self])

  @OptionGroup var dataOptions: DataOptions

  @Option(
    help: ArgumentHelp(
      "Listen on this address; port 0 lets the system choose one.", valueName: "address:port"))
  var listen = ListeningAddress(host: "127.0.0.1", port: 8077)

  @Option(
    help: ArgumentHelp("The certificate of the server with its chain, PEM.", valueName: "file"),
    completion: .file())
  var tlsCert: String?

  @Option(
    help: ArgumentHelp("The private key of the certificate, PEM.", valueName: "file"), completion: .file())
  var tlsKey: String?

  @Flag(help: "Listen for other machines without TLS, as behind a proxy that has it.")
  var insecureHttp = false

  @Flag(help: "Write only warnings and errors to the log.")
  var quiet = false

  func validate() throws {
    if (tlsCert == nil) != (tlsKey == nil) {
      throw ValidationError("--tls-cert and --tls-key belong together.")
    }
    if tlsCert == nil, !listen.isLoopback, !insecureHttp {
      throw ValidationError(
        "\(listen.host) can be reached from other machines: give --tls-cert and --tls-key, or --insecure-http."
      )
    }
  }

  func run() async throws {
    let storage = try EmbeddedStorage(folder: dataOptions.path)
    var settings = ServerSettings(address: listen, clock: Host.now)
    if let tlsCert, let tlsKey { settings.tls = ServerTLS(certificateFile: tlsCert, keyFile: tlsKey) }
    settings.isQuiet = quiet
    do {
      try await LogbookServer(storage, settings).run { url in Self.tell("listening on \(url)") }
    } catch {
      try await storage.close()
      throw error
    }
    try await storage.close()
  }

  /// Who starts a server waits for this line; a closed standard output does not stop it.
  private static func tell(_ text: String) {
    let output = Output()
    output.line(text)
    do { try output.finish() } catch { output.message("glucoport: \(error)") }
  }
}
