// SPDX-License-Identifier: Apache-2.0

extension GlurooFormat {
  static let page = FormatPage(
    origin: [
      "in the Gluroo app: the data of the group, exported as CSV"
    ],
    variants: [
      "times with their offset; all values are in mg/dL"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "sensor readings, finger sticks of messages",
      "insulin and carbohydrates of messages, other messages as notes",
    ],
    leaves: [
      "the sensor value that each message repeats, which is counted",
      "who wrote a message, and what the app concluded from it",
    ])
}
