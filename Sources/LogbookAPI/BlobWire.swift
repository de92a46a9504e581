// SPDX-License-Identifier: Apache-2.0

/// The names of client and server for attachments' content.
extension WireProtocol {
  /// `HEAD`, `PATCH`, `PUT`, `GET`, followed by the SHA-256 of a content.
  package static let blobsPath = "/v1/blobs/"
  /// The header with the offset of a part.
  package static let offsetHeader = "Glucoport-Offset"
  /// The header with the size of a whole content.
  package static let sizeHeader = "Glucoport-Size"
  /// The header with the number of bytes that the server holds of a content.
  package static let heldHeader = "Glucoport-Held"
  /// The header that repeats the code of an error, for answers without a body.
  package static let errorHeader = "Glucoport-Error"
  /// The maximum size of a part.
  package static let maxPartBytes = 1 << 20
}
