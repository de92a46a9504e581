// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook
import NIOSSL

/// Reads the files with certificates and keys that a person set for a remote or a source.
package enum CertificateFiles {
  /// Checks the files of a client certificate. No connection is made.
  ///
  /// - Parameter now: the current time in UTC seconds.
  /// - Returns: when the certificate expires, in UTC seconds.
  /// - Throws: `Failure`: `missingInput` and `permission` for unreadable files, `permission` for a key that
  ///   other users can read. `configuration` for files that do not match, and for an expired certificate.
  @discardableResult
  package static func check(_ client: ClientCertificate, at now: Int64) throws(Failure) -> Int64 {
    var tls = TLSConfiguration.makeClientConfiguration()
    // This check concerns only the files, so the system's trusted authorities are not loaded.
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
  /// - Throws: `Failure`: `missingInput` and `permission` for an unreadable file, `configuration` for a file
  ///   without certificates.
  package static func check(authorities path: String) throws(Failure) { _ = try authorities(path) }

  static func authorities(_ path: String) throws(Failure) -> [NIOSSLCertificate] {
    let bytes = try RemoteFile.open(path, as: "CA file")
    if let certificates = certificates(bytes) { return certificates }
    throw Failure(
      .configuration,
      "\(path): cannot read a PEM certificate from this CA file; choose another with 'glucoport remote set --ca-file'"
    )
  }

  /// Adds the client certificate to the settings of connections. A server may require such a certificate.
  ///
  /// - Returns: when the certificate expires, in UTC seconds.
  @discardableResult
  static func join(_ client: ClientCertificate, _ tls: inout TLSConfiguration) throws(Failure) -> Int64 {
    // The certificate is read first. If a person swapped both files, the key would be checked in the wrong
    // file. The error would then be that other users can read the file, which does not matter for a
    // certificate.
    let chain = try chain(client.certificateFile)
    tls.certificateChain = chain.map { .certificate($0) }
    tls.privateKey = .privateKey(try key(client.keyFile))
    do {
      // This initialiser also checks whether key and certificate match.
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
    // Encryption with a passphrase is checked before the key is loaded. Otherwise the library would ask for
    // the passphrase on the terminal.
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

  /// The certificates in a PEM text; nil if one is damaged or there are none.
  private static func certificates(_ bytes: [UInt8]) -> [NIOSSLCertificate]? {
    do {
      let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
      return certificates.isEmpty ? nil : certificates
    } catch {
      // The library does not state which line is wrong, or why. The message of the callers fits both a
      // damaged file and a file without certificates.
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

/// A file that a person set for a remote: a token, a private key or certificates. Named pipes and devices are
/// refused, since reading them could block the program endlessly.
enum RemoteFile {
  /// The maximum size of a file with certificates, in bytes. A bundle with all authorities of a system has
  /// about 230 kB.
  private static let maxPublicBytes = 4 << 20

  /// The bytes of a file with a token or key. The file must belong to the current user, and no other user may
  /// be able to read it.
  ///
  /// - Parameter name: what the file is, for messages.
  static func secret(_ path: String, as name: String) throws(Failure) -> [UInt8] {
    try read(path, name, isSecret: true, maxBytes: TokenSource.maxBytes)
  }

  /// The bytes of a file with certificates, which all users may read.
  ///
  /// - Parameter name: what the file is, for messages.
  static func open(_ path: String, as name: String) throws(Failure) -> [UInt8] {
    try read(path, name, isSecret: false, maxBytes: maxPublicBytes)
  }

  private static func read(
    _ path: String, _ name: String, isSecret: Bool, maxBytes: Int
  ) throws(Failure) -> [UInt8] {
    // Without O_NONBLOCK, opening a named pipe would wait until another program writes to it. Pipes are
    // refused below.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(name, path, errno) }
    defer { close(descriptor) }
    try check(descriptor, path, name, isSecret: isSecret)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count <= maxBytes {
      let count = piece.withUnsafeMutableBytes { piece in
        uninterrupted { Glibc.read(descriptor, piece.baseAddress, piece.count) }
      }
      guard count >= 0 else { throw failure(name, path, errno) }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
    throw Failure(.configuration, "\(path): the \(name) has more than \(maxBytes) bytes")
  }

  /// Checks the open file and not its path, so that the file cannot be replaced between the check and the
  /// reading.
  private static func check(
    _ descriptor: Int32, _ path: String, _ name: String, isSecret: Bool
  ) throws(Failure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(name, path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.configuration, "\(path): the \(name) must be a regular file")
    }
    guard isSecret else { return }
    guard status.st_uid == geteuid() else {
      throw Failure(
        .permission, "\(path): the \(name) belongs to another user; create your own")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw Failure(
        .permission, "\(path): other users may read or write the \(name); run: chmod 600 '\(path)'")
    }
  }

  private static func failure(_ name: String, _ path: String, _ code: Int32) -> Failure {
    Failure(
      FailureCategory(unreadableFile: code),
      "\(path): the \(name) cannot be read: \(String(cString: strerror(code)))")
  }
}
