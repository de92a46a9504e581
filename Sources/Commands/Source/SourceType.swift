// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// The types of sources, by the words for `--type`.
enum SourceType: String, CaseIterable, ExpressibleByArgument {
  case nightscout, http, command

  /// The name for people.
  var title: String {
    switch self {
    case .nightscout: "Nightscout site"
    case .http: "address"
    case .command: "command"
    }
  }

  /// The minimum time between two fetches that no person asks for, unless a person sets another one.
  var intervalSeconds: Int { self == .http ? 300 : 900 }

  /// The time limit of one fetch, unless a person sets another one. A site may have years of items.
  var maxSeconds: Int { self == .nightscout ? 600 : 180 }
}

extension SourceSetting {
  /// The type; nil for one that only a newer program knows.
  var type: SourceType? { SourceType(rawValue: access.type) }

  /// Where the data come from, without a secret: the address, or the program of a command without its arguments.
  var place: String { access.url ?? access.command.first ?? "" }
}
