// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import Logbook
package import LogbookStore

/// The options that select the store. All commands with a store have them.
package struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The store to use. Default: $GLUCOPORT_STORE, else the store in the data folder.", valueName: "file"))
  var store: PathArgument?

  @Option(
    help: ArgumentHelp("The person whose store to use. Default: $GLUCOPORT_PERSON.", valueName: "name"),
    completion: .persons)
  package var person: String?

  /// Creates the options without values. The parser sets the values.
  package init() {}

  /// Refuses `--store` and `--person` together.
  package func validate() throws {
    // If one of them were ignored, data of one person would go into the store of another.
    if store != nil, person != nil {
      throw ValidationError("--store and --person both choose the store; give one of them.")
    }
  }

  /// The path of the selected store.
  ///
  /// - Throws: `Failure`: `configuration` if nothing selects a store, `missingInput` for an unknown person,
  ///   and `usage` if several persons have a store and none is selected.
  package var path: String {
    get throws {
      if let named = try named { return named }
      throw Failure(
        .configuration,
        "no store is named: use --store or GLUCOPORT_STORE, or set HOME or XDG_DATA_HOME to an absolute path"
      )
    }
  }

  /// Whether an option or an environment variable selects the store.
  package var isChosen: Bool {
    store != nil || person != nil || Host.environment("GLUCOPORT_STORE") != nil
      || Host.environment("GLUCOPORT_PERSON") != nil
  }

  /// The words of a command line for a hint. They include the options that selected this store.
  package func words(_ command: String...) -> [String] {
    ["glucoport"] + command + (store.map { ["--store", $0.path] } ?? person.map { ["--person", $0] } ?? [])
  }

  /// The failure of a command that needs one store, while several persons have one and none is selected.
  package static func failure(without persons: [Person]) -> Failure {
    Failure(
      .usage,
      "several persons have a store here: choose \(alternatives(persons.map { displayed($0.name) })) with --person or GLUCOPORT_PERSON"
    )
  }

  private var named: String? {
    get throws {
      if let store { return store.path }
      if let person { return try PersonList.load().person(person).store }
      if let path = Host.environment("GLUCOPORT_STORE") { return path }
      if let name = Host.environment("GLUCOPORT_PERSON") { return try PersonList.load().person(name).store }
      let persons = try PersonList.load().all
      guard persons.count <= 1 else { throw Self.failure(without: persons) }
      return persons.first?.store ?? Host.dataFolder.map { $0 + "/logbook.db" }
    }
  }

  /// Opens the store. If its folder is read-only, it is read without a lock. A message then warns that
  /// changes by other processes may be missed.
  package func open(_ role: StoreRole) throws -> Store {
    let store = try Store(path: path, role: role)
    if store.isFrozen {
      Output().message("glucoport: \(store.path): the folder cannot be written; reading without a lock")
    }
    return store
  }

  /// The zone of the logbook; that of the system if there is no store.
  package func zone() throws -> LogbookZone {
    guard try named != nil, let zone = try existing()?.timezone() else {
      return try NewLogbook().zone
    }
    return zone
  }

  /// Opens the store to read it; nil if the file does not exist yet.
  package func existing() throws -> Store? {
    guard try Store.exists(path: path) else { return nil }
    do {
      return try open(.reader)
    } catch let failure as Failure where failure.category == .missingInput {
      return nil
    }
  }

  /// Opens the store, or creates it with the time zone of the environment or the system.
  package func openOrCreate(_ role: StoreRole, _ output: Output) throws -> Store {
    Host.keepFilesPrivate()
    return try NewLogbook().openOrCreate(path, role, output)
  }
}

extension GlucoseUnit: ExpressibleByArgument {
  /// Reads the name of a unit from an argument; nil for an unknown name.
  public init?(argument: String) { self.init(name: argument) }
  /// The names of the units, for the help and for shells.
  public static var allValueStrings: [String] { allCases.map(\.name) }
}

/// The path of a file on the command line. Its bytes need not be valid UTF-8.
package struct PathArgument: ExpressibleByArgument {
  /// Shells complete the argument with names of files.
  package static var defaultCompletionKind: CompletionKind { .file() }

  /// The path in the notation of `PathText`.
  package let path: String

  /// Keeps the word as the shell gave it.
  package init(argument: String) { path = argument }
}
