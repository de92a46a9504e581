// SPDX-License-Identifier: Apache-2.0

/// What the name of a sheet in a workbook says about its table.
package enum SheetName {
  /// Whether it may be the name of a person: it has a word that does not belong to tables, times or devices.
  package static func mayNamePerson(_ name: String) -> Bool {
    let words: [Substring] = foldedHeader(name).split { !$0.isLetter }.filter { $0.count > 1 }
    return !words.contains(where: GlucoseName.brands.contains) && !words.allSatisfy(isOfTable)
  }

  private static func isOfTable(_ word: Substring) -> Bool {
    if words.contains(word) || months.contains(word) || GlucoseName.known.contains(word) { return true }
    let header = HeaderWords(String(word))
    return header.isMeal || header.isTime || header.isRemark || header.isRowType || header.namesOther
      || header.mentionsGlucose || header.kind != nil || header.role != nil
  }

  private static let months = Set<Substring>(
    """
    january february march april may june july august september october november december
    januar jänner februar märz maerz mai juni juli oktober dezember
    janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre
    januari februari maart mei augustus enero febrero marzo abril mayo junio julio agosto septiembre
    setiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre
    dicembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro styczeń luty marzec
    kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień marts desember
    jan feb mar mär mrz apr jun jul aug sep sept okt oct nov dez dec ene abr ago dic gen mag giu lug set ott
    """.split { $0.isWhitespace })

  /// Words for parts of a workbook, of the day, the week or the year, and of a life.
  private static let words = Set<Substring>(
    """
    sheet tabelle blatt feuil feuille hoja folha foglio blad ark arkusz planilha table tab worksheet
    data daten données datos dati dane log logs diary tagebuch journal diario dagboek dagbog dagbok
    export import report bericht rapport summary overview übersicht all alle tout todo tutto raw original
    copy kopie copie copia backup old new neu alt archive archiv part teil page seite list liste lista
    entries entry records record main total final draft clean upload download app phone device devices
    week weeks woche wochen semaine semana settimana weekly kw month monat mois mes mese year jahr année año
    quarter first second third erste zweite dritte one two three period phase visit test
    monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag
    samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves
    viernes sábado domingo weekend weekday
    today days day tage night nights nacht nachts nuit noche notte morning mornings morgen morgens früh
    matin mañana mattina noon mittag midi evening evenings abend abends soir tarde sera afternoon nachmittag
    before after vor nach avant après antes después prima dopo pre post and und et con med
    left right links rechts home work school schule holiday holidays vacation travel trip urlaub ferien
    sport training later earlier again spring summer autumn fall winter frühling sommer herbst
    """.split { $0.isWhitespace })
}
