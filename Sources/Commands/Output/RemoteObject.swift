// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// A remote as `remote show --json` prints it; glucoport-json(5) documents its members. Neither the token nor
/// its command is one of them.
struct RemoteObject: Encodable {
  let kind: String
  let url: String
  let logbook: String
  let logbookName: String
  let tokenSource: String
  let tokenFile: String?
  let caFile: String?
  let clientCert: String?
  let clientKey: String?
  let insecureHTTP: Bool
  let failures: Int
  let lastSuccess: String?
  let lastError: String?
  let nextAttempt: String?
  let purgedAt: String?

  init(_ setting: RemoteSetting) {
    kind = setting.access.kind
    url = setting.access.url
    logbook = setting.logbook
    logbookName = setting.logbookName
    let (source, path): (String, String?) =
      switch setting.access.token {
      case .file(let path): ("file", path)
      case .command: ("command", nil)
      }
    (tokenSource, tokenFile) = (source, path)
    caFile = setting.access.authorities
    clientCert = setting.access.clientCertificate?.certificateFile
    clientKey = setting.access.clientCertificate?.keyFile
    insecureHTTP = setting.access.allowsPlainHTTP
    failures = setting.failures
    lastSuccess = setting.lastSuccess.map(instant)
    lastError = setting.lastError
    nextAttempt = setting.nextAttempt.map(instant)
    purgedAt = setting.purgedAt.map(instant)
  }
}
