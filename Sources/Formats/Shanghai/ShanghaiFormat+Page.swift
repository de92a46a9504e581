// SPDX-License-Identifier: Apache-2.0

extension ShanghaiFormat {
  static let page = FormatPage(
    origin: [
      "the data sets ShanghaiT1DM and ShanghaiT2DM: the workbook of one person; save an old .xls as .xlsx first"
    ],
    variants: [
      "workbooks and CSV; all values are in mg/dL"
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "CGM as sensor readings and CBG, capillary blood glucose, as finger sticks, in one import",
      "blood ketones, dietary intake in words",
    ],
    leaves: [
      "insulin and other medicines, which are words",
      "the food in Chinese, which repeats the English column",
    ])
}
