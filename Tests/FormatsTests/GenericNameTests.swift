// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests names of columns with glucose. Also tests columns that are not glucose, although their names have a
/// word for glucose or their numbers are similar.
@Suite struct GenericNameTests {
  /// A table of sixty values of a sensor in a column with this name.
  private func table(_ name: String, minutes: Int = 5) -> String {
    let start = DeviceTime(text: "2026-03-01T00:02:00")?.seconds ?? 0
    let quoted = "\"\(name.replacing("\"", with: "\"\""))\""
    return (0..<60).reduce(into: "time,\(quoted)\n") { text, row in
      text += "\(DeviceTime(seconds: start + Int64(row * minutes * 60)).text),\(90 + row * 37 % 71)\n"
    }
  }

  @Test(arguments: [
    // These columns contain sums and averages of many values.
    "min_glucose", "glucose_min", "Min Glucose", "max_glucose", "glucose_max", "mean_glucose", "glucose_mean",
    "average_glucose", "avg_glucose", "Average Glucose", "median_glucose", "glucose_median", "glucose_p50",
    "glucose percentile", "glucose_sd", "glucose_std", "glucose_cv", "peak_glucose", "peak_bg", "bg_peak",
    "highest_glucose", "lowest_glucose", "baseline_glucose", "glucose_baseline", "pre_meal_baseline",
    "glucose_auc", "AUC", "iAUC glucose", "glucose_spike", "spike_height", "average_glucose_spike",
    "glucose_range", "bg_range", "glucose_count", "cgm_count", "rolling_mean", "glucose_rolling_mean_1h",
    "ma", "ema", "TIR", "time in glucose range %", "GMI", "LBGI", "HBGI", "MAGE", "Glucose Average",
    "Glucose Target Range",
    // These columns contain laboratory values for the average of glucose.
    "a1c", "hba1c", "eA1c", "eAG", "estimated glucose", "estimated_avg_glucose", "est_a1c",
    "glucose management indicator",
    // These columns contain changes of glucose.
    "glucose_delta", "delta_glucose", "glucose_change", "glucose_diff", "bgdelta", "rate_of_change",
    "glucose_rate", "glucose_roc", "bg_slope", "Glucose (mg/dL/min)", "glucose_trend", "trend_arrow",
    "bg_trend", "glucose_category", "glucose_score", "metabolic_score",
    // These columns contain predictions, and values of another time.
    "eventualBG", "naive_eventualBG", "minPredBG", "minGuardBG", "predBGs", "predicted_glucose",
    "glucose_pred", "bg_pred", "glucose_forecast", "yhat", "future_glucose", "glucose_next", "next_glucose",
    "target_t+30", "bg+0:30", "bg+1:00", "bg-0:05", "glucose_t-30", "glucose_lag_1", "prev_glucose",
    "Glucose (Lag = -4)", "cgm30",
    // These columns contain numbers that were calculated from glucose.
    "glucose_normalized", "bg_norm", "glucose_scaled", "bg_scaled", "zscore", "eventualBGscaled",
    "minBGscaled", "maxBGscaled", "simulated_glucose", "glucose_interpolated", "imputed",
  ])
  func columnsOfAggregatesChangesAndPredictionsAreNotReadAsGlucose(_ name: String) throws {
    let refusal = try #require(try ScratchFile(table(name)).refusal(), "\(name) was read")
    #expect(!refusal.contains("--map"), "\(refusal)")
  }

  @Test(arguments: [
    // These columns contain data of devices about themselves.
    "rssi", "cgm rssi", "signal_strength", "battery", "bgm battery", "uploaderBattery", "transmitterBattery",
    "cgm_coverage", "glucose_coverage", "wear %", "cgm gap minutes", "max_glucose_gap_minutes", "noise",
    "quality", "glucose sensor age (min)", "glucose sensor temperature", "sensor id", "ISIG",
    "glucose ISIG (nA)", "raw_data", "rawbg", "filtered", "unfiltered", "glucose_raw", "cgm_raw", "slope",
    "intercept", "scale", "glucose calibration factor", "MARD", "cgm_mard", "bg_error", "rmse", "residual",
    "Linked BG Meter ID",
    // These columns contain targets, alarms, and inputs of calculators.
    "target_bg", "TargetBG", "bg_target", "target_glucose", "target_low", "target_high", "low_threshold",
    "high_threshold", "glucose alarm threshold", "low glucose limit", "urgent low", "goal", "Schwelle",
    "umbral", "seuil", "renal glucose threshold", "bgInput", "bg_input", "BWZ BG Input",
    "Blood Glucose Input (mg/dl)", "glucose_input", "insulin_sensitivity", "ISF", "correction_factor",
    "carb_ratio", "mg/dL/U",
    // These columns are about food, drugs, and other fluids and substances.
    "Glucose (g)", "Glucose (mg)", "glucose tablets (g)", "dextrose (g)", "food_g", "glycemic_index",
    "glycemic_load", "Valeur glycémique (grammes)", "Sugars (g)", "blood sugar friendly", "Glucosamine mg",
    "glucagon pg/mL", "glucagon (mg)", "glucose infusion rate (mg/kg/min)", "GIR", "glycogen", "gluten (mg)",
    "glucosidase", "glucocorticoid", "G6PD", "urine glucose", "glucose (urine) mg/dL", "glucosuria",
    "U-Glukose", "CSF glucose", "csf_glucose", "Liquor-Glukose", "pleural glucose", "synovial glucose",
    "ascites glucose", "dialysate glucose", "tear glucose", "sweat glucose", "saliva glucose",
    "Fasting GLU - PDL (Lab)", "OGTT 120 min", "bg_color", "bgcolor", "bg-primary", "ketone",
    "lactate mmol/L", "uric acid", "cholesterol", "LDL", "HDL", "triglycerides", "creatinine", "urea",
    "filtered_calculated_value",
  ])
  func columnsOfDevicesTargetsFoodAndFluidsAreNotReadAsGlucose(_ name: String) throws {
    let file = try ScratchFile(table(name))
    // A column named `ketone` is read as ketones. All numbers of this table are too high for ketones, and are
    // rejected.
    guard name != "ketone" else {
      let result = try file.readings()
      #expect(result.readings.isEmpty && result.rejections.count == 60)
      return
    }
    let refusal = try #require(try file.refusal(), "\(name) was read")
    #expect(!refusal.contains("--map"), "\(refusal)")
  }

  /// The unknown word may mean that the values are not glucose, so a person must confirm the column with
  /// `--map`.
  @Test(arguments: [
    "glucose_kitchen", "smoothed glucose", "glucose 2", "bg (old)", "serum glucose",
  ])
  func anUnknownWordNextToGlucoseInAColumnNameRequiresAMapping(_ name: String) throws {
    let file = try ScratchFile(table(name))
    let refusal = try #require(try file.refusal(), "\(name) was read")
    #expect(refusal.contains("'\(name)'") && refusal.contains("time=time,value="), "\(refusal)")
    let map = ["time": "time", "value": name]
    #expect(try file.readings { $0.columns = map }.readings.count == 60)
  }

  @Test func aColumnNamedCBGRequiresTheKindOption() throws {
    for name in ["CBG", "Measured CBG", "cbg (mg/dL)"] {
      let file = try ScratchFile(table(name))
      let refusal = try #require(try file.refusal(), "\(name) was read")
      #expect(refusal.contains("--kind smbg") && refusal.contains("--kind cbg"), "\(refusal)")
      #expect(try file.readings { $0.kind = .smbg }.readings.allSatisfy { $0.kind == .smbg })
      let map = ["time": "time", "value": name]
      #expect(try file.refusal { $0.columns = map }?.contains("--kind smbg") == true)
    }
  }

  @Test(arguments: [
    "glucose", "Glucose", "Actual Glucose", "True glucose", "Historic Glucose", "Historial de glucosa",
    "Storico del glucosio", "Historique de la glycémie", "Scan Glucose", "Strip Glucose", "Sensor Glucose",
    "Glukosewert-Verlauf", "glucose_mg_dl", "glucose_mgdl", "mg_dl", "glucose_value", "glucose_level",
    "Estimated Glucose Value", "EGV", "Valeur de glycémie estimée", "Niveles estimados de glucosa",
    "Meter BG", "Glukose (mg/dL)", "Libre GL", "Dexcom G6 Glucose", "FreeStyle Libre 2 glucose",
    "Readings (CGM / BGM)", "Blutzuckermesswert", "Kapillarglukose", "bloedglucosewaarde",
    "Sensorglukosewert",
    "BGValue", "bloodGlucoseValueInMgPerDl", "glucose mg per dL", "Plasma Glucose Level", "Glicose no sangue",
    "Cukier we krwi", "Leitura de sensor(mg/dL)", "CGM Glucose (mg / dl)", "Taux de glycémie",
    "Measured interstitial glucose", "Nightscout SGV",
  ])
  func aColumnNameWithOnlyKnownWordsIsRead(_ name: String) throws {
    #expect(try ScratchFile(table(name)).readings().readings.count == 60)
  }

  @Test(arguments: ["fasting_glucose", "postprandial_glucose", "Glukose nüchtern"])
  func aMealInAColumnNameShowsADiaryAndNotASensor(_ name: String) throws {
    #expect(try ScratchFile(table(name)).refusal()?.contains("named for values at meals") == true)
    #expect(try ScratchFile(table(name, minutes: 700)).readings().readings.count == 60)
  }

  @Test func decisionsOfALoopingProgramAreRefused() throws {
    let text =
      #"[{"bg":140,"eventualBG":95,"temp":"absolute","reason":"in range","timestamp":"2026-05-01T07:00:00Z"}]"#
    #expect(try ScratchFile(text).refusal()?.contains("'eventualBG'") == true)
    #expect(try ScratchFile(text.replacing("reason", with: "remark")).readings().readings.count == 1)
  }

  @Test func aMeasuredColumnIsPreferredToAPrediction() throws {
    let text =
      "time,Actual Glucose,eventualBG,glucose_next\n2026-05-01 07:00,101,140,99\n2026-05-01 09:10,104,150,98\n"
    let export = try TextExport(text)
    #expect(export.readings.compactMap { $0.measurement.quantity?.number } == [101, 104])
    #expect(export.warnings == ["not read: 'eventualBG', 'glucose_next'"])
  }

  /// A name with any addition to a word for glucose must not be read, but refused with a question.
  @Test func aLetterOrDigitNextToGlucoseInAColumnNameIsNeverIgnored() throws {
    for word in ["glucose", "bg", "cgm", "Blutzucker"] {
      for other in "abcefghjkmnopqrstuvxyz0123456789" {
        for name in ["\(word)_\(other)", "\(other) \(word)"] {
          #expect(try ScratchFile(table(name)).refusal() != nil, "\(name) was read")
        }
      }
    }
  }
}
