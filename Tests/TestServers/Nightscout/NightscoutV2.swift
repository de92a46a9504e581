// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The additions of API v2 to API v1: tokens and subjects, the data of the page, insulin and carbs on board.
struct NightscoutV2 {
  let site: NightscoutSite
  let call: NightscoutCall
  private let path: [String]

  init(_ site: NightscoutSite, _ call: NightscoutCall) {
    (self.site, self.call) = (site, call)
    path = Array(call.segments.dropFirst(2))
  }

  /// The answer to the call; nil for calls that API v1 answers.
  func answer() throws(NightscoutAnswer) -> NightscoutAnswer? {
    switch (call.method, path.first, path.count) {
    case ("GET", "authorization"?, 3) where path[1] == "request": return try session(path[2])
    case ("POST", "authorization"?, 2) where path[1] == "subjects": return try addSubject()
    case (_, "authorization"?, _): throw .noPage(call)
    case ("GET", "ddata"?, 2...3) where path[1] == "at": return try loaded { Self.data($0) }
    case ("GET", "properties"?, 1...2): return try loaded { self.properties($0) }
    default: return nil
    }
  }

  private func session(_ credential: String) throws(NightscoutAnswer) -> NightscoutAnswer {
    let session = site.state.withLock { state in
      let session = state.access.session(for: credential, at: state.now)
      if let session { state.access.keep(session) }
      return session
    }
    guard let session else { throw .unauthorized }
    return .bare(.object(session.fields))
  }

  private func addSubject() throws(NightscoutAnswer) -> NightscoutAnswer {
    let maxBytes = site.state.withLock { $0.settings.maxBodyBytes }
    let sent = try NightscoutBody.v1(call, maxBytes: maxBytes)
    guard try site.anybody(call).may("admin:api:subjects:create") else { throw .unauthorized }
    guard let name = sent["name"]?.text else { throw .v1(500, "Mongo Error", "name") }
    let roles = sent["roles"]?.array?.compactMap(\.text) ?? []
    let subject = site.state.withLock { $0.access.addSubject(name, roles: roles) }
    return .bare(["_id": .string(subject.id), "name": .string(name), "roles": sent["roles"] ?? []])
  }

  /// A value computed from the site's memory, after it was reloaded as within seconds after each write.
  private func loaded(
    _ make: (NightscoutState) -> DocumentValue
  ) throws(NightscoutAnswer) -> NightscoutAnswer {
    let caller = try site.anybody(call)
    guard caller.may("api:entries:read"), caller.may("api:treatments:read") else { throw .unauthorized }
    return site.state.withLock { state in
      state.settle()
      return .bare(make(state))
    }
  }

  private static func data(_ state: NightscoutState) -> DocumentValue {
    let loaded = state.memory.loaded
    return [
      "treatments": .array(loaded.treatments.map { .object($0) }),
      "sgvs": .array(loaded.readings.map { .object($0) }), "lastUpdated": DocumentValue(loaded.time),
    ]
  }

  private func properties(_ state: NightscoutState) -> DocumentValue {
    let board = state.onBoard
    var properties: NightscoutDocument = ["iob": [:], "cob": [:]]
    if !board.treatments.isEmpty {
      properties["iob"] = ["iob": .number(board.insulin), "source": "Care Portal"]
    }
    if let carbs = board.carbs { properties["cob"] = ["cob": .number(carbs), "source": "Care Portal"] }
    guard path.count > 1 else { return .object(properties) }
    let names = path[1].split(separator: ",").map(String.init)
    return .object(properties.filter { names.contains($0.key) })
  }
}
