// SPDX-License-Identifier: Apache-2.0

package import Logbook
import NIOSSL

/// The certificates and the key that the setting of a remote names, read from their files.
package enum CertificateFiles {
  /// Checks whether a client certificate can be used, without a connection.
  ///
  /// - Parameter now: UTC seconds.
  /// - Returns: when it expires, in UTC seconds.
  /// - Throws: `Failure`: `missingInput` and `permission` for files that cannot be read, `permission` for a key that
  ///   others may read, `configuration` for files that cannot be used together, and for a certificate that has expired.
  @discardableResult
  package static func check(_ client: ClientCertificate, at now: Int64) throws(Failure) -> Int64 {
    var tls = TLSConfiguration.makeClientConfiguration()
    // Only the files are of interest, not what the system trusts.
    tls.trustRoots = .certificates([])
    let end = try join(client, &tls)
    guard now <= end else {
      throw Failure(
        .configuration,
        "\(client.certificateFile): the client certificate expired \(DeviceTime(seconds: end).text)Z; replace both files"
      )
    }
    return end
  }

  /// Checks whether a file with the certificates of authorities can be used.
  ///
  /// - Throws: `Failure`: `missingInput` and `permission` for a file that cannot be read, `configuration` for one without
  ///   certificates.
  package static func check(authorities path: String) throws(Failure) { _ = try authorities(path) }

  /// The certificates of a CA file.
  static func authorities(_ path: String) throws(Failure) -> [NIOSSLCertificate] {
    let bytes = try RemoteFile.open(path, as: "CA file")
    if let certificates = certificates(bytes) { return certificates }
    throw Failure(
      .configuration,
      "\(path): cannot read a PEM certificate from this CA file; choose another with 'glucoport remote set --ca-file'"
    )
  }

  /// Makes a connection show the certificate to a server that asks for one.
  ///
  /// - Returns: when it expires, in UTC seconds.
  @discardableResult
  static func join(_ client: ClientCertificate, _ tls: inout TLSConfiguration) throws(Failure) -> Int64 {
    // The certificate goes first: where the two are exchanged, nobody is to be told to hide a certificate.
    let chain = try chain(client.certificateFile)
    tls.certificateChain = chain.map { .certificate($0) }
    tls.privateKey = .privateKey(try key(client.keyFile))
    do {
      // Only here a key is compared with its certificate.
      _ = try NIOSSLContext(configuration: tls)
    } catch {
      throw Failure(
        .configuration,
        "cannot use the client certificate \(client.certificateFile) with the key \(client.keyFile): the key must be that of the first certificate"
      )
    }
    return Int64(chain[0].notValidAfter)
  }

  private static func chain(_ path: String) throws(Failure) -> [NIOSSLCertificate] {
    let bytes = try RemoteFile.open(path, as: "client certificate")
    if let certificates = certificates(bytes) { return certificates }
    if label("PRIVATE KEY", in: bytes) {
      throw Failure(
        .configuration, "\(path): a private key, but no certificate; exchange --client-cert and --client-key")
    }
    throw Failure(
      .configuration,
      "\(path): no PEM certificate in the file of the client certificate; convert it with openssl"
    )
  }

  private static func key(_ path: String) throws(Failure) -> NIOSSLPrivateKey {
    let name = "key of the client certificate"
    let bytes = try RemoteFile.secret(path, as: name)
    // Asked before it is read, which would ask a terminal for the passphrase.
    if label("ENCRYPTED", in: bytes) {
      throw Failure(
        .configuration,
        "\(path): the \(name) has a passphrase; write one without: (umask 077; openssl pkey -in '\(path)' -out NEW)"
      )
    }
    do {
      return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
    } catch {
      throw Failure(.configuration, "\(path): no usable PEM private key for the client certificate")
    }
  }

  /// The certificates of a PEM text; nil for a text without or with a damaged one.
  private static func certificates(_ bytes: [UInt8]) -> [NIOSSLCertificate]? {
    do {
      let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
      return certificates.isEmpty ? nil : certificates
    } catch {
      // The library's words name no line and no cause; the callers have a sentence for both.
      return nil
    }
  }

  /// Whether a PEM text has a line with this label: `-----BEGIN … LABEL-----`, or `Proc-Type: 4,ENCRYPTED`.
  private static func label(_ label: String, in bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).contains {
      ($0.hasPrefix("-----BEGIN ") || $0.hasPrefix("Proc-Type:")) && $0.contains(label)
    }
  }
}
