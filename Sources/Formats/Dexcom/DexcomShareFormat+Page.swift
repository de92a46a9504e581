// SPDX-License-Identifier: Apache-2.0

extension DexcomShareFormat {
  static let page = FormatPage(
    origin: [
      "a program that asks Dexcom Share, with its answer in a pipe: PROGRAM | glucoport import -"
    ],
    variants: [
      "the list of the latest readings, with or without the phone's offset"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings of the last day; 39 is below the range"
    ],
    leaves: [
      "the trend"
    ])
}
