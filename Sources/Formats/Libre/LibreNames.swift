// SPDX-License-Identifier: Apache-2.0

/// The names of the columns of Abbott's two exports, in the languages of known files or parsers. They only show which
/// names are unusual: columns are read by position.
enum LibreNames {
  /// LibreView: en, de, es, fr, nl, sv.
  static let libreView: [[String]] = [
    [
      "device|meter", "serial number", "device timestamp|meter timestamp", "record type", "historic glucose",
      "scan glucose", "non-numeric rapid-acting insulin", "rapid-acting insulin", "non-numeric food",
      "carbohydrates", "carbohydrates", "non-numeric long-acting insulin",
      "long-acting insulin|long-acting insulin value", "notes", "strip glucose", "ketone", "meal insulin",
      "correction insulin", "user change insulin",
    ],
    [
      "gerät", "seriennummer", "gerätezeitstempel", "aufzeichnungstyp", "glukosewert-verlauf", "glukose-scan",
      "nicht numerisches schnellwirkendes insulin", "schnellwirkendes insulin",
      "nicht numerische nahrungsdaten", "kohlenhydrate", "kohlenhydrate", "nicht numerisches depotinsulin",
      "depotinsulin", "notizen", "glukose-teststreifen", "keton", "mahlzeiteninsulin", "korrekturinsulin",
      "insulin-änderung durch anwender",
    ],
    [
      "dispositivo", "número de serial|número de serie", "sello de tiempo del dispositivo",
      "tipo de registro",
      "historial de glucosa", "escaneo de glucosa", "insulina de acción rápida no numérica",
      "insulina de acción rápida", "alimento no numérico", "carbohidratos", "carbohidratos",
      "insulina de acción larga no numérica", "insulina de acción larga", "notas",
      "tira reactiva para glucosa", "cuerpos cetónicos", "comida e insulina", "insulina de corrección",
      "insulina del cambio de usuario",
    ],
    [
      "appareil", "numéro de série", "horodatage de l'appareil", "type d'enregistrement",
      "historique de la glycémie", "numérisation de la glycémie",
      "insuline à action rapide sans valeur numérique", "insuline à action rapide",
      "alimentation sans valeur numérique", "glucides", "glucides",
      "insuline à action longue sans valeur numérique", "insuline à action longue", "remarques",
      "glycémie par bandelette", "cétone", "insuline repas", "correction insuline",
      "insuline modifiée par l'utilisateur",
    ],
    [
      "apparaat", "serienummer", "tijdstempel apparaat", "gegevenstype", "historische glucose",
      "scan glucose",
      "niet-numerieke snelwerkende insuline", "snelwerkende insuline", "niet-numeriek voedsel",
      "koolhydraten", "koolhydraten", "niet-numerieke langwerkende insuline", "langwerkende insuline",
      "notities", "strip glucose", "keton", "maaltijdinsuline", "correctie insuline",
      "wijzigen insuline gebruiker",
    ],
    [
      "enhet", "serienummer", "enhetens tidsstämpel", "registertyp", "historiskt glukosvärde",
      "skanna glukosvärde", "icke-numeriskt snabbverkande insulin", "snabbverkande insulin",
      "icke-numerisk mat", "kolhydrater", "kolhydrater", "icke-numeriskt långtidsverkande insulin",
      "långtidsverkande insulin", "anteckningar", "glukossticka", "keton", "måltidsinsulin",
      "korrigeringsinsulin", "användarändrat insulin",
    ],
  ]

  /// The desktop software: en, de, es.
  static let desktop: [[String]] = [
    [
      "id", "time", "record type", "historic glucose", "scan glucose", "non-numeric rapid-acting insulin",
      "rapid-acting insulin", "non-numeric food", "carbohydrates", "non-numeric long-acting insulin",
      "long-acting insulin", "notes", "strip glucose", "ketone", "meal insulin", "correction insulin",
      "user change insulin", "previous time", "updated time",
    ],
    [
      "id", "uhrzeit", "art des eintrags", "historische glukose", "gescannte glukose",
      "schnell wirkendes insulin, nicht numerisch", "schnell wirkendes insulin",
      "lebensmittel, nicht numerisch", "kohlenhydrate", "lang wirkendes insulin, nicht numerisch",
      "lang wirkendes insulin", "notizen", "teststreifen-blutzucker", "keton", "mahlzeiten-insulin",
      "korrektur-insulin", "insulin-änderung durch anwender", "vorherige uhrzeit", "neue uhrzeit",
    ],
    [
      "id", "hora", "tipo de registro", "histórico glucosa", "glucosa leída",
      "insulina de acción rápida sin valor numérico", "insulina de acción rápida",
      "alimentos sin valor numérico", "carbohidratos", "insulina de acción lenta sin valor numérico",
      "insulina de acción lenta", "notas", "glucosa de la tira", "cetonas", "insulina comida",
      "insulina corrección", "insulina cambio usuario", "hora anterior", "hora actualizada",
    ],
  ]
}
