// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Judges the names of sheets in a workbook, and of members of an archive.
package enum SheetName {
  /// Whether a name may be that of a person: it has a word that does not belong to tables, times or devices.
  package static func mayNamePerson(_ name: String) -> Bool {
    let words: [Substring] = foldedHeader(name).split { !$0.isLetter }.filter { $0.count > 1 }
    return !words.contains(where: GlucoseName.brands.contains) && !words.allSatisfy(isOfTable)
  }

  /// Whether two tables of the same days have names whose difference describes the tables, such as
  /// `Before meals` and `After meals`. Numbers, months and letters may distinguish persons instead.
  package static func differOnlyInDescription(_ one: String, _ other: String) -> Bool {
    let (first, second) = (Set(parts(of: one)), Set(parts(of: other)))
    let differences = [first.subtracting(second), second.subtracting(first)]
    let words = differences.map { $0.filter(isWord) }
    guard words.joined().allSatisfy(describes) else { return false }
    if differences.joined().allSatisfy(isWord) { return words != [[], []] }
    let isOfDevice = first.intersection(second).contains {
      devices.contains($0) || GlucoseName.brands.contains($0)
    }
    let hasWords = words.allSatisfy { !$0.isEmpty }
    return (isOfDevice || hasWords)
      && first.union(second).filter(isWord).allSatisfy { describes($0) || isOfTable($0) }
  }

  /// Whether the names of two tables of doses or meals may be those of two persons. The words that both names
  /// have, and words for doses, meals and injections, do not count.
  package static func mayNamePersonsOfDoses(_ one: String, _ other: String) -> Bool {
    let (first, second) = (Set(parts(of: one).filter(isWord)), Set(parts(of: other).filter(isWord)))
    return [first.subtracting(second), second.subtracting(first)].allSatisfy { words in
      let rest = words.filter { !isOfDoses($0) }
      return !rest.isEmpty && mayNamePerson(rest.joined(separator: " "))
    }
  }

  private static func isOfDoses(_ word: Substring) -> Bool {
    if doses.contains(word) || InsulinName.subtype(String(word)) != nil { return true }
    let header = HeaderWords(String(word))
    return header.namesDose || header.isMeal || header.namesFood
  }

  /// The words and numbers of a name: `P01` is a word and a number.
  private static func parts(of name: String) -> [Substring] {
    let text = foldedHeader(name)
    return text.split { !$0.isLetter } + text.split { !$0.isNumber }
  }

  private static func isWord(_ part: Substring) -> Bool { part.first?.isLetter ?? false }

  private static func describes(_ word: Substring) -> Bool {
    if [descriptions, devices, GlucoseName.brands, GlucoseName.meals].contains(where: { $0.contains(word) }) {
      return true
    }
    let header = HeaderWords(String(word))
    return header.isMeal || header.kind != nil || header.mentionsGlucose
  }

  private static func isOfTable(_ word: Substring) -> Bool {
    if words.contains(word) || descriptions.contains(word) || devices.contains(word) || months.contains(word)
      || GlucoseName.known.contains(word)
    {
      return true
    }
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

  /// Words for parts of a workbook, and for times of a week, a year or a life. They do not distinguish
  /// persons.
  private static let words = Set<Substring>(
    """
    part teil page seite copy kopie copie copia backup archive archiv csv tsv txt json xlsx ods zip
    week weeks woche wochen semaine semana settimana weekly kw month monat mois mes mese year jahr année año
    quarter first second third erste zweite dritte one two three period phase visit test
    monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag
    samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves
    viernes sábado domingo weekend weekday
    today later earlier again spring summer autumn fall winter frühling sommer herbst
    """.split { $0.isWhitespace })

  /// Words that describe one of several tables of a person.
  private static let descriptions = Set<Substring>(
    """
    sheet tabelle blatt feuil feuille hoja folha foglio blad ark arkusz planilha table tab worksheet
    data daten données datos dati dane log logs diary tagebuch journal diario dagboek dagbog dagbok
    export import report bericht rapport summary overview übersicht all alle tout todo tutto raw original
    old new neu alt list liste lista entries entry records record main total final draft clean upload download
    days day tage night nights nacht nachts nuit noche notte morning mornings morgen morgens früh
    matin mañana mattina noon mittag midi evening evenings abend abends soir tarde sera afternoon nachmittag
    before after vor nach avant après antes después prima dopo pre post and und et con med
    left right links rechts home work school schule holiday holidays vacation travel trip urlaub ferien
    sport training
    """.split { $0.isWhitespace })

  /// Words for doses and meals, for pens and pumps, and for places of injection.
  private static let doses = Set<Substring>(
    """
    acting auto automatic manual smb extended dual square units unit einheiten einheit unités unidades unità
    insulin insuline insulina insuliner dose doses dosis dosen dosi dosage basaldosis injection injections
    injektion injektionen spritze spritzen inyecciones iniezioni pen pens pump pumpe pompe pompa bomba pod
    omnipod flexpen flextouch kwikpen solostar doublestar junior cartridge boluses bolusse boli corrections
    korrekturen correcciones correzioni korrektion correctie correcties
    meal meals mahlzeit mahlzeiten food foods essen nahrung eating carb carbs kh khe be ke kohlenhydrate
    glucides hidratos carboidrati koolhydraten comida comidas repas pasti pasto maaltijd maaltijden måltid
    måltider posiłki snack snacks dessert desserts nachtisch drinks getränke
    treatment treatments therapie therapy medication medikamente
    arm arms bauch bein beine abdomen belly stomach leg legs thigh thighs oberschenkel ventre cuisse bras
    pancia gamba brazo pierna barriga
    """.split { $0.isWhitespace })

  /// Words for devices, and their models.
  private static let devices = Set<Substring>(
    """
    app phone device devices meter meters gerät messgerät glucometer sensor sensors
    next plus guide mobile performa aviva instant active nano select flex neo elite optium
    """.split { $0.isWhitespace })
}
