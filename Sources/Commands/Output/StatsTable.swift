// SPDX-License-Identifier: Apache-2.0

import Logbook
import Report

/// Figures as CSV: one row for each group, and one for the whole period. A figure without enough data is an
/// empty cell.
enum StatsTable {
  /// A column and its cell for a group.
  private struct Column: Sendable {
    let name: String
    let cell: @Sendable (GroupFigures, StatsView) -> String

    init(_ name: String, _ cell: @escaping @Sendable (GroupFigures, StatsView) -> String) {
      self.name = name
      self.cell = cell
    }

    static func count(_ name: String, _ number: @escaping @Sendable (GroupFigures) -> Int) -> Column {
      Column(name) { group, _ in "\(number(group))" }
    }

    static func figure(_ name: String, _ metric: @escaping @Sendable (GroupFigures) -> Metric) -> Column {
      Column(name) { group, _ in text(metric(group), 1) }
    }

    /// A glucose value in the displayed unit.
    static func glucose(_ name: String, _ metric: @escaping @Sendable (GroupFigures) -> Metric) -> Column {
      Column(name) { group, view in text(metric(group), view.unit.perMilligram) }
    }

    private static func text(_ metric: Metric, _ factor: Double) -> String {
      MetricObject(metric, times: factor).value.map(plainNumber) ?? ""
    }
  }

  /// The names of the columns in their order.
  static var names: [String] { columns.map(\.name) }

  static func lines(_ view: StatsView) -> [String] {
    let groups = view.result.groups + [view.result.total]
    return ([names] + groups.map { group in columns.map { $0.cell(group, view) } }).map { cells in
      cells.map(csvText).joined(separator: ",") + "\r"
    }
  }

  private static let columns = [sensor, ranges, indices, episodes, fingerSticks, fingerRanges, others]
    .flatMap(
      \.self)

  private static let sensor: [Column] = [
    Column("group") { group, view in view.name(of: group) ?? "total" },
    Column("unit") { _, view in view.unit.name },
    .count("days") { $0.days },
    .count("sensor_readings") { $0.sensor.readings },
    .count("sensor_lo") { $0.sensor.lows },
    .count("sensor_hi") { $0.sensor.highs },
    .count("sensor_minutes") { $0.sensor.minutes },
    .figure("active_percent") { $0.sensor.active },
    .glucose("mean") { $0.sensor.mean },
    .glucose("sd") { $0.sensor.standardDeviation },
    .figure("cv_percent") { $0.sensor.variation },
    .figure("gmi_percent") { $0.sensor.managementIndicator },
    .figure("gmi_mmol_mol") { $0.sensor.managementIndicatorInMillimoles },
  ]

  private static let ranges: [Column] = GlucoseBand.allCases.map { band in
    .figure("\(band.name)_percent") { $0.sensor.ranges[band.rawValue].percent }
  }

  private static let indices: [Column] = [
    .figure("tight_percent") { $0.sensor.tight.percent },
    .figure("lbgi") { $0.sensor.lowRisk },
    .figure("hbgi") { $0.sensor.highRisk },
    .figure("gri") { $0.sensor.glycemiaRisk },
  ]

  private static let episodes: [Column] = EpisodeKind.allCases.map { kind in
    .count("\(kind.name)_episodes") { $0.sensor.episodes[kind].count }
  }

  private static let fingerSticks: [Column] = [
    .count("finger_readings") { $0.fingerSticks.readings },
    .count("finger_lo") { $0.fingerSticks.lows },
    .count("finger_hi") { $0.fingerSticks.highs },
    .glucose("finger_mean") { $0.fingerSticks.mean },
    .glucose("finger_median") { $0.fingerSticks.median },
    .glucose("finger_lowest") { $0.fingerSticks.lowest },
    .glucose("finger_highest") { $0.fingerSticks.highest },
  ]

  private static let fingerRanges: [Column] = GlucoseBand.allCases.map { band in
    .figure("finger_\(band.name)_percent_of_readings") { $0.fingerSticks.ranges[band.rawValue].percent }
  }

  private static let others: [Column] = [
    .count("ketone_readings") { $0.ketones.readings },
    .figure("insulin_per_day") { $0.amounts.insulin.perDay },
    .figure("basal_per_day") { $0.amounts.basal.perDay },
    .figure("bolus_per_day") { $0.amounts.bolus.perDay },
    .figure("carbs_per_day") { $0.amounts.carbohydrates.perDay },
    .count("left_out") { group in LeftOut.allCases.reduce(0) { $0 + group.leftOut[$1] } },
  ]
}
