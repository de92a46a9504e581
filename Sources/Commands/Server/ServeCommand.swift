// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookAPI
package import LogbookServer
import PostgresStore
import ServerStore

/// The option for the folder of a server's data. All commands of a server have it.
struct DataOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Folder for the server's data. Default: 'server' in the data folder.", valueName: "folder"),
    completion: .directory)
  var data: String?

  /// The path of the folder with the server's data.
  ///
  /// - Throws: `Failure` of category `configuration` if neither the option nor the environment names a
  ///   folder.
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
  /// Reads an address from an argument; nil if it is not valid.
  package init?(argument: String) { self.init(text: argument) }
}

/// The mode of a file, which is typed as three octal digits.
struct FileModeArgument: ExpressibleByArgument {
  let mode: mode_t

  init?(argument: String) {
    guard argument.utf8.count == 3 || argument.utf8.count == 4 && argument.hasPrefix("0"),
      let mode = mode_t(argument, radix: 8), argument.utf8.first != 0x2B
    else { return nil }
    self.mode = mode
  }
}

extension ServerLogFormat: ExpressibleByArgument {}

/// The options for where a server keeps its data: a folder or a database.
struct ServerDataOptions: ParsableArguments {
  @OptionGroup var folder: DataOptions
  @OptionGroup var database: DatabaseOptions

  func validate() throws {
    if database.database != nil, folder.data != nil {
      throw ValidationError("--data and --database exclude each other.")
    }
  }

  /// The list of the server's logins. It can be used while the server runs.
  ///
  /// - Throws: `Failure`, as in `EmbeddedStorage` and `PostgresStorage`.
  var logins: any LoginDirectory {
    get throws {
      if let address = try database.address { return try PostgresStorage.logins(address) }
      return try Logins(folder: folder.path)
    }
  }
}

/// `glucoport serve`: runs the server with which stores sync.
struct ServeCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "serve", "Run a server that keeps several stores in sync.",
    """
    It runs until SIGTERM or SIGINT, then finishes running requests. SIGHUP reads the certificate \
    again. 'glucoport serve token add' creates the tokens of clients, also while the server is running.
    """,
    examples: "glucoport serve",
    "glucoport serve --listen 0.0.0.0:8077 --tls-cert cert.pem --tls-key key.pem",
    subcommands: [
      ServeTokenCommand.self, ServeBackupCommand.self, ServeDatabaseCommand.self,
      ServeLogbookCommand.self, ServeImportCommand.self, ServeExportCommand.self,
    ])

  @OptionGroup var dataOptions: ServerDataOptions

  @Option(
    help: ArgumentHelp(
      "The maximum number of connections to the database. Default: 8.", valueName: "number"))
  var databaseConnections: Int?

  @Option(
    parsing: .singleValue,
    help: ArgumentHelp(
      "Listen on host:port or on a Unix socket, unix:path; may be repeated. Default: 127.0.0.1:8077, or the sockets of systemd.",
      valueName: "address"))
  var listen: [ListeningAddress] = []

  @Option(help: ArgumentHelp("Who may use a Unix socket, in octal. Default: 660.", valueName: "mode"))
  var socketMode: FileModeArgument?

  @Option(
    help: ArgumentHelp(
      "Serve /metrics on this address, to everybody, and nowhere else.", valueName: "address"))
  var metricsListen: ListeningAddress?

  @Option(
    help: ArgumentHelp("Certificate of the server with its chain (PEM).", valueName: "file"),
    completion: .file())
  var tlsCert: String?

  @Option(
    help: ArgumentHelp("Private key of the certificate (PEM).", valueName: "file"), completion: .file())
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Accept only clients with a certificate of these CA certificates (PEM).", valueName: "file"),
    completion: .file())
  var clientCa: String?

  @Flag(help: "Accept other machines without TLS, for example behind a proxy with TLS.")
  var insecureHttp = false

  @Flag(help: "Show pages in a browser to those who have a link of 'glucoport remote page'.")
  var pages = false

  @Option(help: ArgumentHelp("Form of the log: text, or json for one object per line.", valueName: "format"))
  var logFormat = ServerLogFormat.text

  @Flag(help: "Log only warnings and errors.")
  var quiet = false

  func validate() throws {
    if let databaseConnections {
      guard dataOptions.database.database != nil, (1...200).contains(databaseConnections) else {
        throw ValidationError("--database-connections is a whole number from 1 to 200, and needs --database.")
      }
    }
    if (tlsCert == nil) != (tlsKey == nil) {
      throw ValidationError("--tls-cert and --tls-key need each other.")
    }
    if clientCa != nil, tlsCert == nil {
      throw ValidationError("--client-ca needs --tls-cert and --tls-key.")
    }
    if let address = listen.first(where: isUnsafe) {
      throw ValidationError(
        "\(address.text) is reachable from other machines: add --tls-cert and --tls-key, or --insecure-http.")
    }
  }

  func run() async throws {
    let settings = try settings()
    var limits = PoolLimits()
    if let databaseConnections { limits.connections = databaseConnections }
    if let address = try dataOptions.database.address {
      let storage = try PostgresStorage(address, limits: limits, warn: settings.storageWarnings)
      try requireResources(
        settings, databaseConnections: limits.allConnections(clusters: storage.clusterCount))
      try await serve(storage, settings, close: storage.close)
    } else {
      try requireResources(settings, databaseConnections: 0)
      let storage = try EmbeddedStorage(folder: dataOptions.folder.path)
      try await serve(storage, settings, close: storage.close)
    }
  }

  private func requireResources(
    _ settings: ServerSettings, databaseConnections: Int
  ) throws(Failure) {
    let needs = ResourceLimits.ofServer(settings, databaseConnections: databaseConnections)
    if let shortage = needs.shortage() { throw Failure(.temporary, shortage) }
  }

  private func serve(
    _ storage: any ServerStorage, _ settings: ServerSettings, close: () async throws -> Void
  ) async throws {
    do {
      try await LogbookServer(storage, settings).run { urls in Self.show(urls.map { "listening on \($0)" }) }
    } catch {
      try await close()
      throw error
    }
    try await close()
  }

  /// Whether others in the network of an address could read the traffic, since it is not encrypted.
  private func isUnsafe(_ address: ListeningAddress) -> Bool {
    tlsCert == nil && !insecureHttp && !address.isLoopback
  }

  private func settings() throws(Failure) -> ServerSettings {
    let sockets = try SystemSocket.all(environment: Host.environment)
    let mainSockets = sockets.filter { !$0.isForMetrics }
    if let socket = mainSockets.first(where: { isUnsafe($0.address) }) {
      throw Failure(
        .configuration,
        "\(socket.address.text), which the service manager passed, is reachable from other machines: add --tls-cert and --tls-key, or --insecure-http"
      )
    }
    let addresses =
      listen.isEmpty && mainSockets.isEmpty ? [ListeningAddress(host: "127.0.0.1", port: 8077)] : listen
    var settings = ServerSettings(addresses: addresses, clock: Host.now)
    settings.systemSockets = sockets
    settings.metricsAddress = metricsListen
    settings.notifier = ServiceNotifier(environment: Host.environment)
    if let socketMode { settings.socketMode = socketMode.mode }
    if let tlsCert, let tlsKey {
      settings.tls = ServerTLS(certificateFile: tlsCert, keyFile: tlsKey, clientAuthoritiesFile: clientCa)
    }
    settings.logFormat = logFormat
    settings.isQuiet = quiet
    if pages { settings.pages = .reports }
    return settings
  }

  /// Prints the lines for which a program waits after it has started the server. If standard output is
  /// closed, the server continues.
  private static func show(_ lines: [String]) {
    let output = Output()
    for line in lines { output.line(line) }
    do { try output.finish() } catch { output.message("glucoport: \(error)") }
  }
}

/// `glucoport serve backup`: copies the data of a server, even while it runs.
struct ServeBackupCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "backup", "Copy the data of a server, while it runs.",
    """
    The copy is a folder with the time in its name. Each logbook in it is as it was at one moment. To restore \
    it, stop the server and let --data name a copy of it.
    """,
    examples: "glucoport serve backup /backup --keep 7",
    "glucoport serve backup --data /var/lib/glucoport /backup")

  @OptionGroup var dataOptions: DataOptions
  // The command declares this option only to refuse it. Otherwise the parser would assign the option to
  // `serve`, and the folder would be copied.
  @OptionGroup(visibility: .hidden) var databaseOptions: DatabaseOptions

  @Argument(
    help: ArgumentHelp("An existing folder for the copy.", valueName: "folder"), completion: .directory)
  var folder: PathArgument

  @Option(help: ArgumentHelp("Keep only the newest N copies in the folder.", valueName: "number"))
  var keep: Int?

  func validate() throws {
    if let keep, keep < 1 { throw ValidationError("--keep is a whole number, 1 or more.") }
  }

  func run(_ output: Output) throws {
    Host.keepFilesPrivate()
    guard databaseOptions.database == nil else {
      throw Failure(
        .usage,
        "a database is backed up with the programs of PostgreSQL, such as pg_dump; see glucoport-postgresql(7)"
      )
    }
    guard Host.isFolder(folder.path) else {
      throw Failure(.missingInput, "\(displayed(folder.path)): No such folder; create it first")
    }
    let (data, target) = (Host.resolved(try dataOptions.path), Host.resolved(folder.path))
    guard target != data, !target.hasPrefix(data + "/") else {
      throw Failure(
        .usage, "\(displayed(folder.path)): this is the data folder of the server; name another one")
    }
    let backup = try ServerBackup.make(of: data, in: target, stamp: BackupPlace.stamp(Host.now()))
    let removed = try keep.map { try backup.removeOlder(of: data, keeping: $0) } ?? []
    output.line(
      "\(displayed(backup.path)): \(counted(backup.logbooks, "logbook")), \(grouped(Int(backup.size))) bytes"
    )
    for path in removed { output.line("  removed \(displayed(path))") }
  }
}

/// The options for the certificates of a connection to a remote or a source.
struct CertificateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Trust only the CA certificates in this file (PEM).", valueName: "file"),
    completion: .file())
  var caFile: String?

  @Option(
    help: ArgumentHelp(
      "Certificate of this computer with its chain (PEM), for a server that asks for one.", valueName: "file"),
    completion: .file())
  var clientCert: String?

  @Option(
    help: ArgumentHelp("Private key of that certificate (PEM).", valueName: "file"), completion: .file())
  var clientKey: String?

  func validate() throws {
    guard (clientCert == nil) == (clientKey == nil) else {
      throw ValidationError("--client-cert and --client-key need each other.")
    }
  }

  /// Whether at least one of the options is given.
  var isGiven: Bool { caFile != nil || clientCert != nil }

  /// The absolute path of the file with the certificates to trust; nil to trust those of the system.
  var authorities: String? { caFile.map(Host.standardPath) }

  /// The certificate and key that identify this computer; nil if none is given.
  var client: ClientCertificate? {
    guard let clientCert, let clientKey else { return nil }
    return ClientCertificate(
      certificateFile: Host.standardPath(clientCert), keyFile: Host.standardPath(clientKey))
  }
}
