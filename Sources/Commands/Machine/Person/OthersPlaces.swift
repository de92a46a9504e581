// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore
import Remotes

/// The remotes and sources of the other persons' stores on this computer. If two persons' stores used one of
/// these places, each store would get the data of both persons, and uploads would send them everywhere.
struct OthersPlaces {
  private let others: [Person]

  /// Reads the list of persons; nil if the store belongs to none of them, or if there are no others. A second
  /// store of a person is in no list, so it is not compared.
  ///
  /// - Parameter path: the path of the store that gets a remote or a source.
  init?(_ path: String) throws {
    guard let others = try PersonList.load().others(ofStore: path)?.others else { return nil }
    self.others = others
  }

  /// Refuses a remote with the data of another person's store.
  ///
  /// - Parameters:
  ///   - logbook: the logbook that the remote has.
  ///   - present: the store that gets the remote; nil if it does not exist yet. If it was synced with this
  ///     logbook before, a person has decided about it.
  /// - Throws: `Failure` of category `configuration` if another person's store syncs with the logbook, or
  ///   fetches from the site.
  func refuse(_ access: RemoteAccess, _ logbook: RemoteLogbook, for present: Store?) throws {
    if try present?.syncedLogbook() == logbook.id { return }
    let use = try use { store in
      if try store.syncedLogbook() == logbook.id { return "is or was synced with this logbook" }
      let source = try store.sources().first { try SharedPlace.isSame($0.access, access) }
      return source.map { "fetches from this site as the source \(displayed($0.name))" }
    }
    guard let use else { return }
    throw Failure(
      .configuration,
      "\(displayed(access.url)): \(use), so the data of two persons would be mixed; nothing was set; "
        + "if both stores are of one person, add --other-person")
  }

  /// Refuses a source with the data of another person's store.
  ///
  /// - Parameter present: the store that gets the source; nil if it does not exist yet. If it has a source at
  ///   this place, a person has decided about it.
  /// - Throws: `Failure` of category `configuration` if the place is the remote or a source of another
  ///   person's store.
  func refuse(_ setting: SourceSetting, for present: Store?) throws {
    if try present?.sources().contains(where: { try SharedPlace.isSame($0.access, setting.access) }) == true {
      return
    }
    let use = try use { store in
      if let remote = try store.remote(), try SharedPlace.isSame(setting.access, remote.access) {
        return "syncs with this site"
      }
      let source = try store.sources().first { try SharedPlace.isSame($0.access, setting.access) }
      return source.map { "fetches from this place as the source \(displayed($0.name))" }
    }
    guard let use else { return }
    throw Failure(
      .configuration,
      "\(displayed(setting.name)): \(use), so these are the data of another person; nothing was set; "
        + "if they are of the person of this store, add --accept-person")
  }

  /// How the first of the other persons' stores uses a place; nil if none does.
  ///
  /// - Parameter ofStore: returns how a store uses the place, as a predicate without a subject.
  private func use(_ ofStore: (Store) throws -> String?) throws -> String? {
    for person in others {
      let reason: String? = try person.readingStore { try ofStore($0) }
      if let reason { return "the store of \(displayed(person.name)) \(reason)" }
    }
    return nil
  }
}

/// Compares the places of sources and remotes: whether they have the data of one person.
private enum SharedPlace {
  /// Whether a source is the Nightscout site of a remote, or a document on it.
  static func isSame(_ source: SourceAccess, _ remote: RemoteAccess) throws -> Bool {
    guard remote.kind == SourceType.nightscout.rawValue, let url = source.url else { return false }
    let site = try RemoteAddress(remote.url, allowsPlainHTTP: true)
    return try isSite(source, url, site)
  }

  /// Whether two sources have the data of one person. A Nightscout site has one person's data. An address or
  /// a command can return those of several persons, so the login and the person must be equal, too.
  static func isSame(_ one: SourceAccess, _ other: SourceAccess) throws -> Bool {
    guard let url = one.url, let otherURL = other.url else {
      return one.type == other.type && one.command == other.command && one.patient == other.patient
    }
    for (source, url, site) in [(one, url, other), (other, otherURL, one)]
    where site.type == SourceType.nightscout.rawValue {
      return try isSite(source, url, RemoteAddress(site.url ?? "", allowsPlainHTTP: true))
    }
    return url == otherURL && one.token == other.token && one.user == other.user
      && one.header == other.header && one.patient == other.patient
  }

  /// Whether a source is a Nightscout site, or a document on it.
  private static func isSite(_ source: SourceAccess, _ url: String, _ site: RemoteAddress) throws -> Bool {
    if source.type == SourceType.nightscout.rawValue {
      return try RemoteAddress(url, allowsPlainHTTP: true).isSameSite(as: site)
    }
    let address = try SourceAddress(url, allowsPlainHTTP: true)
    return address.server.isSameHost(as: site) && address.isBelow(site)
  }
}
