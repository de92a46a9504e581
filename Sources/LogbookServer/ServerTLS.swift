// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import NIOSSL

/// The files for TLS.
package struct ServerTLS: Hashable, Sendable {
  /// The path of a PEM file with the certificate of the server and the certificates of its signers.
  package var certificateFile: String
  /// The path of a PEM file with the private key.
  package var keyFile: String

  /// The path of a PEM file with authorities. One of them must have signed the certificate of each client.
  /// Nil if clients need no certificate.
  package var clientAuthoritiesFile: String?

  package init(certificateFile: String, keyFile: String, clientAuthoritiesFile: String? = nil) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.clientAuthoritiesFile = clientAuthoritiesFile
  }
}

extension ServerTLS {
  /// The ciphers for TLS 1.2. All of them have authenticated encryption and forward secrecy, as have all
  /// ciphers of TLS 1.3.
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

  /// The TLS context that is made from the current contents of the files.
  ///
  /// - Throws: `Failure`: `configuration` for an unusable certificate or key, `permission` for a key that
  ///   others can read.
  func context() throws(Failure) -> NIOSSLContext {
    try checkKeyFile()
    do {
      let chain = try NIOSSLCertificate.fromPEMBytes(PEMFile.bytes(certificateFile))
      let key = try NIOSSLPrivateKey(bytes: PEMFile.bytes(keyFile), format: .pem)
      try checkNames(chain)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      configuration.cipherSuites = Self.ciphers
      configuration.applicationProtocols = ["http/1.1"]
      if let authorities = try clientAuthorities() {
        configuration.trustRoots = .certificates(authorities)
        // The certificate of a client contains no host name that could be compared.
        configuration.certificateVerification = .noHostnameVerification
      }
      // This initialiser also checks whether key and certificate match.
      return try NIOSSLContext(configuration: configuration)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(
        .configuration,
        "cannot use the certificate \(certificateFile) with the key \(keyFile): both must be PEM files, and the key that of the certificate"
      )
    }
  }

  private func clientAuthorities() throws(Failure) -> [NIOSSLCertificate]? {
    guard let path = clientAuthoritiesFile else { return nil }
    let bytes = try PEMFile.bytes(path)
    do {
      let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
      if !certificates.isEmpty { return certificates }
    } catch {
      // The message below is used for a damaged file and for a file without certificates.
    }
    throw Failure(.configuration, "\(path): cannot read a PEM certificate from this file; check --client-ca")
  }

  private func checkKeyFile() throws(Failure) {
    var status = stat()
    // If `stat` fails, reading the file fails, too. That error is reported below.
    guard stat(keyFile, &status) == 0, status.st_mode & 0o077 != 0 else { return }
    throw Failure(
      .permission, "\(keyFile): other users may read or write the private key; run: chmod 600 '\(keyFile)'")
  }

  /// Refuses a certificate without alternative names: clients compare the server's address only with these
  /// (RFC 9110 §4.3.4).
  private func checkNames(_ chain: [NIOSSLCertificate]) throws(Failure) {
    guard let leaf = chain.first, leaf._subjectAlternativeNames().isEmpty else { return }
    throw Failure(
      .configuration,
      "\(certificateFile): the certificate has no subject alternative name, so no client accepts it; create it with -addext subjectAltName=DNS:NAME"
    )
  }
}

/// The certificate that new connections use.
actor ServerCertificate {
  private let files: ServerTLS
  private(set) var context: NIOSSLContext

  /// Reads the files.
  ///
  /// - Throws: `Failure`, as `ServerTLS` does.
  init(_ files: ServerTLS) throws(Failure) {
    self.files = files
    context = try files.context()
  }

  /// Reads the files again. Open connections keep their certificate. If the new files are unusable, the old
  /// certificate also stays in use for new connections.
  ///
  /// - Throws: `Failure`, as `ServerTLS` does.
  func reload() throws(Failure) { context = try files.context() }
}

/// A file with a certificate or a key. Named pipes and devices are refused, since reading them could block
/// the server.
private enum PEMFile {
  /// The maximum size of such a file in bytes. A bundle with all authorities of a system has about 230 kB.
  private static let maxBytes = 4 << 20

  /// The bytes of the file.
  ///
  /// - Throws: `Failure` of category `configuration`.
  static func bytes(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.configuration, "\(path): a certificate or key must be a regular file")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count <= maxBytes {
      let count = piece.withUnsafeMutableBytes { piece in
        uninterrupted { read(descriptor, piece.baseAddress, piece.count) }
      }
      guard count >= 0 else { throw failure(path) }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
    throw Failure(.configuration, "\(path): a certificate or key has at most \(maxBytes) bytes")
  }

  private static func failure(_ path: String) -> Failure {
    Failure(
      .configuration, "\(path): cannot read this certificate or key: \(String(cString: strerror(errno)))")
  }
}
