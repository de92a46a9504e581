// SPDX-License-Identifier: Apache-2.0

extension SheetTexts {
  /// French.
  static let french = SheetTexts(
    name: "Nom", born: "Né(e) le", daysOf: "{1} jours sur {2} avec mesures", of: "{1} sur {2}",
    dayNumber: "Jour {1}", perDay: "Par jour : {1}", summary: "Résumé", indicator: "GMI",
    variation: "Variation (CV)", stickFigures: "Indicateurs des mesures",
    profileNote: "médiane, moitié centrale et 5 à 95 % des mesures selon l’heure",
    profileSentence:
      "Profil sur 24 heures : la médiane est au plus bas à {2} avec {1} {5}, au plus haut à {4} avec {3} {5}.",
    lastDays: "les {1} derniers jours",
    thumbnailNote: "pourcentage du temps dans la plage cible",
    daysSentence: "Courbes de {1} jours, à partir de {2}.",
    notice:
      "Ni dispositif médical ni diagnostic. Ne fondez aucun traitement sur ce rapport : il montre ce que les appareils et programmes ont transmis, ce qui peut être faux, tardif ou incomplet.",
    dotsNote: "lignes : médianes de trois heures, cadres : moitié centrale",
    dotsSentence: "{1} glycémies capillaires au fil de la journée, de {2} à {3} {4}.",
    meals: "Glycémies autour des repas", mark: "Repère", fasting: "À jeun", beforeMeal: "Avant un repas",
    afterMeal: "Après un repas", bedtime: "Au coucher", unmarked: "Sans repère",
    pairs: "D’avant à après un repas : {2} {3} (médiane de {1} paires)", pageOf: "Page {1} sur {2}",
    log: "Carnet des glycémies capillaires", night: "Nuit", breakfast: "Petit déj.", lunch: "Déjeuner",
    dinner: "Dîner", before: "avant", after: "après",
    logLegend:
      "▲ au-dessus de la plage cible · ▼ en dessous · ▼▼ sous {1} · en italique : sans repère, classé selon l’heure (à partir de {2} h)",
    emptyDays: "aucune mesure du {1} au {2}", insulinDays: "Jours avec insuline et glucides",
    belowTarget: "en dessous, %", meanOfDays: "Moyenne des jours",
    stripNote:
      "Ligne : capteur. Points : glycémies capillaires. Barres : insuline rapide en unités ; basale et lente avec un trait ; glucides en grammes au-dessous.",
    bedtimeShort: "Coucher", rapidShort: "Rapide", longShort: "Lente", carbohydratesShort: "Gluc.",
    sticksShort: "Piqûres")
}
