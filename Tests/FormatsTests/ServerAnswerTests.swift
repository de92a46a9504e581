// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import Testing

/// Tests responses of servers that contain an error or no readings.
@Suite struct ServerAnswerTests {
  private static let token = "eyJhbGciOiJIUzI1NiJ9a1b2c3d4"

  @Test(arguments: [
    (
      #"{"status":401,"message":"Unauthorized","description":"Invalid/Missing"}"#,
      ["401", "Unauthorized", "token"]
    ),
    (#"{"status":401,"message":"Unauthorized","result":[]}"#, ["401", "Unauthorized", "token"]),
    (#"{"status":503,"message":"busy"}"#, ["503", "busy", "later"]),
    (
      #"{"status":2,"error":{"message":"notAuthenticated"}}"#,
      ["LibreLinkUp", "notAuthenticated", "log in again"]
    ),
    (#"{"status":0,"data":{"redirect":true,"region":"eu2"}}"#, ["region eu2", "api-eu2.libreview.io"]),
    (
      #"{"status":4,"data":{"step":{"type":"tou"},"user":{"id":"u"},"authTicket":{"token":"\#(token)","expires":0}}}"#,
      ["accept the terms"]
    ),
    (#"{"status":4,"data":{"step":{"type":"verifyEmail"}}}"#, ["confirm the e-mail address"]),
    (
      #"{"Code":"SessionIdNotFound","Message":"No session","SubCode":"","TypeName":"F"}"#,
      ["SessionIdNotFound"]
    ),
    (#"{"Code":"SSO_AuthenticatePasswordInvalid","Message":"x"}"#, ["SSO_AuthenticatePasswordInvalid"]),
    (
      #"{"fault":{"faultstring":"Invalid Access Token","detail":{"errorcode":"k"}}}"#,
      ["Invalid Access Token"]
    ),
    (#"{"errors":["start date is missing"]}"#, ["start date is missing"]),
    (#"{"code":"unauthorized","data":[]}"#, ["code unauthorized", "check the login"]),
    (#"{"status":403,"result":[],"x":1}"#, ["403"]),
    (#"{"error":{"message":"no"},"graphData":[]}"#, ["no"]),
    (#"{"message":"Unauthorized","data":[]}"#, ["Unauthorized", "check the login"]),
    (#"{"success":false,"data":[]}"#, ["success false"]),
    (#"{"status":0,"data":{"redirect":true,"region":"eu2"},"graphData":[]}"#, ["region eu2"]),
    (#"{"fault":{"faultstring":"Invalid"},"records":[]}"#, ["Invalid"]),
    (#"{"errors":["x"],"records":[]}"#, ["x"]),
    (#"{"status":4,"data":[]}"#, ["status 4"]), (#"{"status":"error","result":[]}"#, ["status error"]),
    (#"{"error":"invalid_grant","error_description":"bad \#(token) given"}"#, ["bad … given"]),
  ])
  func anErrorAnswerOfAServerIsRefusedWithItsTextAndTheNextStep(_ body: String, _ words: [String]) throws {
    for format in [nil, "librelinkup", "nightscout"] {
      do {
        _ = try TextExport(body + "\n") { $0.format = format }
        Issue.record("\(body) was read")
      } catch let failure as Failure {
        #expect(failure.category == .badInput)
        for word in words { #expect(failure.message.contains(word), "\(failure.message)") }
        #expect(!failure.message.contains(Self.token), "\(failure.message)")
      }
    }
  }

  @Test(arguments: [
    #"{"data":[]}"#, #"{"status":200,"result":[]}"#, #"{"message":"No data","success":true,"data":[]}"#,
    #"{"status":200,"error":null,"result":[],"x":1}"#,
    #"{"status":0,"data":[],"ticket":{"token":"t","duration":1}}"#,
    #"{"status":0,"data":{"connection":{"patientId":"p","glucoseMeasurement":null},"activeSensors":[],"graphData":[]}}"#,
    #"{"status":0,"data":{"connection":{"patientId":"p"},"graphData":[]},"ticket":{"token":"t"}}"#,
    #"{"connection":{"patientId":"p"},"activeSensors":[],"graphData":[]}"#,
    #"{"graphData":[],"connection":null}"#, #"{"graphData":[]}"#, #"{"code":200,"data":[]}"#,
    #"{"status":"ok","data":[]}"#,
  ])
  func aServerAnswerWithoutReadingsIsAnEmptyExport(_ body: String) throws {
    let export = try TextExport(body)
    #expect(export.readings.isEmpty && export.rejections.isEmpty && export.end == .whole)
    #expect(try TextExport(body) { $0.format = "librelinkup" }.end == .whole)
  }

  private static let measurement =
    #"{"FactoryTimestamp":"5/6/2026 8:00:00 AM","Timestamp":"5/6/2026 10:00:00 AM","ValueInMgPerDl":104}"#

  /// These responses contain readings, so they are read even if they also have an error status or a message.
  @Test(arguments: [
    #"{"status":0,"data":{"connection":{"glucoseMeasurement":\#(measurement)},"graphData":[]}}"#,
    #"{"connection":{"glucoseMeasurement":\#(measurement)},"graphData":[]}"#,
    #"{"status":500,"data":[\#(measurement)]}"#,
    #"[{"status":401,"time":"2026-05-06T08:00:00Z","glucose":104,"unit":"mg/dL"}]"#,
    #"{"status":401,"time":"2026-05-06T08:00:00Z","glucose":104,"unit":"mg/dL"}"#,
    #"{"message":"x","time":"2026-05-06T08:00:00Z","glucose":104,"unit":"mg/dL"}"#,
  ])
  func aServerAnswerWithReadingsIsRead(_ body: String) throws {
    #expect(try TextExport(body).readings.count == 1)
  }
}
