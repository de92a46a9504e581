// SPDX-License-Identifier: Apache-2.0

extension SheetTexts {
  /// German.
  static let german = SheetTexts(
    name: "Name", born: "Geboren", daysOf: "{1} von {2} Tagen mit Messwerten", of: "{1} von {2}",
    dayNumber: "Tag {1}", perDay: "Pro Tag: {1}", summary: "Übersicht", indicator: "GMI",
    variation: "Variation (VK)", stickFigures: "Kennzahlen der Messungen",
    profileNote: "Median, mittlere Hälfte und 5 bis 95 % der Messwerte nach der Uhrzeit",
    profileSentence:
      "24-Stunden-Profil: Der Median ist mit {1} {5} um {2} am niedrigsten, mit {3} {5} um {4} am höchsten.",
    lastDays: "die letzten {1} Tage",
    thumbnailNote: "Prozent der Zeit im Zielbereich",
    daysSentence: "Kurven von {1} Tagen, ab {2}.",
    notice:
      "Kein Medizinprodukt, keine Diagnose. Keine Behandlung nach diesem Bericht: Er zeigt, was Geräte und Programme gemeldet haben; das kann falsch, verspätet oder unvollständig sein.",
    dotsNote: "Linien: Mediane von drei Stunden, Kästen: mittlere Hälfte",
    dotsSentence: "{1} Blutzuckermessungen über den Tag, von {2} bis {3} {4}.",
    meals: "Blutzuckermessungen zu den Mahlzeiten", mark: "Markierung", fasting: "Nüchtern",
    beforeMeal: "Vor dem Essen", afterMeal: "Nach dem Essen", bedtime: "Vor dem Schlafen",
    unmarked: "Ohne Markierung", pairs: "Von vor bis nach dem Essen: {2} {3} (Median von {1} Paaren)",
    pageOf: "Seite {1} von {2}", log: "Tagebuch der Blutzuckermessungen", night: "Nacht",
    breakfast: "Frühstück", lunch: "Mittag", dinner: "Abend", before: "vor", after: "nach",
    logLegend:
      "▲ über dem Zielbereich · ▼ darunter · ▼▼ unter {1} · kursiv: ohne Markierung, nach der Uhrzeit eingeordnet (ab {2} Uhr)",
    emptyDays: "keine Messwerte von {1} bis {2}", insulinDays: "Tage mit Insulin und Kohlenhydraten",
    belowTarget: "darunter, %", meanOfDays: "Mittel der Tage",
    stripNote:
      "Linie: Sensor. Punkte: Blutzuckermessungen. Balken: schnell wirkendes Insulin in Einheiten; basales und langes mit Querstrich; darunter Kohlenhydrate in Gramm.",
    bedtimeShort: "Schlafen", rapidShort: "Schnell", longShort: "Lang", carbohydratesShort: "KH",
    sticksShort: "Stiche")
}
