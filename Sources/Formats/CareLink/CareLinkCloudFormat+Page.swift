// SPDX-License-Identifier: Apache-2.0

extension CareLinkCloudFormat {
  static let page = FormatPage(
    origin: [
      "a program that asks CareLink as the apps for care partners do: PROGRAM | glucoport import -"
    ],
    variants: [
      "answers with and without the member patientData"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings of the last day",
      "doses of rapid insulin",
    ],
    leaves: [
      "other markers, which are counted",
      "names and serial numbers, which are never stored or printed",
    ])
}
