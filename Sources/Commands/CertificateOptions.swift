// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// The certificates of a connection to a remote or a source.
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

  /// Whether any of them is given.
  var isGiven: Bool { caFile != nil || clientCert != nil }

  /// The file of the only certificates that are trusted; nil for those that the system trusts.
  var authorities: String? { caFile.map(Host.lasting) }

  /// The certificate that identifies this computer; nil without one.
  var client: ClientCertificate? {
    guard let clientCert, let clientKey else { return nil }
    return ClientCertificate(
      certificateFile: Host.lasting(clientCert), keyFile: Host.lasting(clientKey))
  }
}
