// SPDX-License-Identifier: Apache-2.0

extension SheetTexts {
  /// Spanish.
  static let spanish = SheetTexts(
    name: "Nombre", born: "Fecha de nacimiento", daysOf: "{1} de {2} días con lecturas", of: "{1} de {2}",
    dayNumber: "Día {1}", perDay: "Por día: {1}", summary: "Resumen", indicator: "GMI",
    variation: "Variación (CV)", stickFigures: "Cifras de las lecturas",
    profileNote: "mediana, mitad central y 5 a 95 % de las lecturas según la hora",
    profileSentence:
      "Perfil de 24 horas: la mediana es mínima a las {2} con {1} {5}, y máxima a las {4} con {3} {5}.",
    lastDays: "los últimos {1} días",
    thumbnailNote: "porcentaje del tiempo en el intervalo objetivo",
    daysSentence: "Curvas de {1} días, desde {2}.",
    notice:
      "No es un producto sanitario ni un diagnóstico. No base un tratamiento en este informe: muestra lo que comunicaron aparatos y programas, que puede ser erróneo, tardío o incompleto.",
    dotsNote: "líneas: medianas de tres horas, cajas: mitad central",
    dotsSentence: "{1} glucemias capilares a lo largo del día, de {2} a {3} {4}.",
    meals: "Glucemias capilares y comidas", mark: "Marca", fasting: "En ayunas",
    beforeMeal: "Antes de una comida", afterMeal: "Después de una comida", bedtime: "Al acostarse",
    unmarked: "Sin marca", pairs: "De antes a después de una comida: {2} {3} (mediana de {1} pares)",
    pageOf: "Página {1} de {2}", log: "Diario de glucemias capilares", night: "Noche", breakfast: "Desayuno",
    lunch: "Comida", dinner: "Cena", before: "antes", after: "después",
    logLegend:
      "▲ por encima del intervalo objetivo · ▼ por debajo · ▼▼ menos de {1} · en cursiva: sin marca, según la hora (desde las {2} h)",
    emptyDays: "sin lecturas del {1} al {2}", insulinDays: "Días con insulina y carbohidratos",
    belowTarget: "por debajo, %", meanOfDays: "Media de los días",
    stripNote:
      "Línea: sensor. Puntos: glucemias capilares. Barras: insulina rápida en unidades; basal y lenta con un trazo; carbohidratos en gramos debajo.",
    bedtimeShort: "Acostarse", rapidShort: "Rápida", longShort: "Lenta", carbohydratesShort: "HC",
    sticksShort: "Punciones")
}
