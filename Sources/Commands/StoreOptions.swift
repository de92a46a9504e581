// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import Logbook
import LogbookStore

/// The options that every command with a store has.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The store to use. Default: $GLUCOPORT_STORE, else the store in the data folder.", valueName: "file"))
  var store: PathArgument?

  /// The path of the store.
  ///
  /// - Throws: `Failure` of category `configuration` when nothing says where it is.
  var path: String {
    get throws {
      if let named { return named }
      throw Failure(
        .configuration,
        "no store is named: use --store or GLUCOPORT_STORE, or set HOME or XDG_DATA_HOME to an absolute path"
      )
    }
  }

  /// The words of a command with the store that this one names, as a hint shows it.
  func words(_ command: String...) -> [String] {
    ["glucoport"] + command + (store.map { ["--store", $0.path] } ?? [])
  }

  private var named: String? {
    store?.path ?? Host.environment("GLUCOPORT_STORE") ?? Host.dataFolder.map { $0 + "/logbook.db" }
  }

  /// Opens the store. One that is read where nothing can be written is reported: nobody else's changes are seen.
  func open(_ role: StoreRole) throws -> Store {
    let store = try Store(path: path, role: role)
    if store.isFrozen {
      Output().message("glucoport: \(store.path): the folder cannot be written; reading without a lock")
    }
    return store
  }

  /// The zone of the logbook; without a store that of the system.
  func zone() throws -> LogbookZone {
    guard named != nil, let zone = try existing()?.timezone() else {
      return try NewLogbook().zone
    }
    return zone
  }

  /// The store for reading; nil where there is none yet.
  func existing() throws -> Store? {
    guard try Store.exists(path: path) else { return nil }
    do {
      return try open(.reader)
    } catch let failure as Failure where failure.category == .missingInput {
      return nil
    }
  }

  /// Opens the store, or creates it with the time zone of the system.
  func openOrCreate(_ role: StoreRole, _ output: Output) throws -> Store {
    Host.keepFilesPrivate()
    return try NewLogbook().openOrCreate(path, role, output)
  }
}

extension GlucoseUnit: ExpressibleByArgument {
  /// The unit that an argument names; nil for anything else.
  public init?(argument: String) { self.init(name: argument) }
  /// The names of the units, for help.
  public static var allValueStrings: [String] { allCases.map(\.name) }
}
