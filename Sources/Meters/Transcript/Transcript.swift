// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// Every exchange of one session with a meter, as text: one line each, in order.
///
/// The first lines state the version, the driver, the model with its USB ids, and the host's clock. The manual page
/// glucoport-transcript(5) documents the form.
public struct Transcript: Hashable, Sendable {
  /// One exchange and its result.
  package struct Step: Hashable, Sendable {
    /// Milliseconds since the session began, when the exchange ended.
    package var milliseconds: Int
    /// The request.
    package var exchange: LinkOperation
    /// The answer, or the error.
    package var result: Result<[UInt8], TransportError>

    package init(milliseconds: Int, exchange: LinkOperation, result: Result<[UInt8], TransportError>) {
      self.milliseconds = milliseconds
      self.exchange = exchange
      self.result = result
    }
  }

  /// The maximum number of steps. A meter with 100,000 readings stays below it.
  package static let maxSteps = 2_000_000

  /// The driver's id.
  public var driver: String
  /// The USB vendor id.
  public var vendorID: UInt16
  /// The USB product id.
  public var productID: UInt16
  /// The host's clock in UTC seconds when the session began.
  public var startedAt: Int64
  /// Whether serial number and values were replaced.
  public var isAnonymised = false
  /// The kind of link, if the driver does not know it by the USB ids; else nil.
  public var link: MeterLink.Kind?
  /// The steps, in order.
  package var steps: [Step] = []

  /// A transcript without steps.
  package init(driver: String, vendorID: UInt16, productID: UInt16, startedAt: Int64) {
    self.driver = driver
    self.vendorID = vendorID
    self.productID = productID
    self.startedAt = startedAt
  }
}
