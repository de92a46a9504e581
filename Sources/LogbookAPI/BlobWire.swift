// SPDX-License-Identifier: Apache-2.0

/// What the calls for the content of attachments add to the names that client and server share.
extension Wire {
  /// `HEAD`, `PATCH`, `PUT`, `GET`, with the SHA-256 of a content behind it.
  package static let blobsPath = "/v1/blobs/"
  /// The header with the place at which a part begins.
  package static let offsetHeader = "Glucoport-Offset"
  /// The header with the bytes of a whole content.
  package static let sizeHeader = "Glucoport-Size"
  /// The header with the bytes that the server holds of a content.
  package static let heldHeader = "Glucoport-Held"
  /// The header that repeats the word of an error, for answers without a body.
  package static let errorHeader = "Glucoport-Error"
  /// The most bytes of a part.
  package static let maxPartBytes = 1 << 20
}
