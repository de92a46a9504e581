// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookAPI
package import LogbookServer
import ServerStore

/// The option that every command of a server has.
struct DataOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Folder for the server's data. Default: 'server' in the data folder.", valueName: "folder"),
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
        "no folder for the server's data: use --data, or set HOME or XDG_DATA_HOME to an absolute path"
      )
    }
  }
}

extension ListeningAddress: ExpressibleByArgument {
  /// The address that an argument names; nil for anything else.
  package init?(argument: String) { self.init(text: argument) }
  /// The address as an argument, for help.
  package var defaultValueDescription: String { "\(host):\(port)" }
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
    commandName: "serve", abstract: "Run a server that keeps several stores in sync.",
    discussion: helpText(
      """
      It runs until SIGTERM or SIGINT, then finishes running requests. 'glucoport serve \
      token add' creates the tokens of clients, also while the server is running.
      """,
      examples: "glucoport serve",
      "glucoport serve --listen 0.0.0.0:8077 --tls-cert cert.pem --tls-key key.pem"),
    subcommands: [ServeTokenCommand.self])

  @OptionGroup var dataOptions: DataOptions

  @Option(
    help: ArgumentHelp(
      "Listen on this address; port 0 lets the system choose one.", valueName: "address:port"))
  var listen = ListeningAddress(host: "127.0.0.1", port: 8077)

  @Option(
    help: ArgumentHelp("Certificate of the server with its chain (PEM).", valueName: "file"),
    completion: .file())
  var tlsCert: String?

  @Option(
    help: ArgumentHelp("Private key of the certificate (PEM).", valueName: "file"), completion: .file())
  var tlsKey: String?

  @Flag(help: "Accept other machines without TLS, for example behind a proxy with TLS.")
  var insecureHttp = false

  @Flag(help: "Show pages in a browser to those who have a link of 'glucoport remote page'.")
  var pages = false

  @Flag(help: "Log only warnings and errors.")
  var quiet = false

  func validate() throws {
    if (tlsCert == nil) != (tlsKey == nil) {
      throw ValidationError("--tls-cert and --tls-key need each other.")
    }
    if tlsCert == nil, !listen.isLoopback, !insecureHttp {
      throw ValidationError(
        "\(listen.host) is reachable from other machines: add --tls-cert and --tls-key, or --insecure-http."
      )
    }
  }

  func run() async throws {
    if let fault = SpareThreads.fault(threads: SpareThreads.ofServer) { throw Failure(.temporary, fault) }
    let storage = try EmbeddedStorage(folder: dataOptions.path)
    var settings = ServerSettings(address: listen, clock: Host.now)
    if let tlsCert, let tlsKey { settings.tls = ServerTLS(certificateFile: tlsCert, keyFile: tlsKey) }
    settings.isQuiet = quiet
    if pages { settings.pages = .reports }
    do {
      try await LogbookServer(storage, settings).run { url in Self.show("listening on \(url)") }
    } catch {
      try await storage.close()
      throw error
    }
    try await storage.close()
  }

  /// Who starts a server waits for this line; a closed standard output does not stop it.
  private static func show(_ text: String) {
    let output = Output()
    output.line(text)
    do { try output.finish() } catch { output.message("glucoport: \(error)") }
  }
}
