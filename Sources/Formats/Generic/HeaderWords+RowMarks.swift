// SPDX-License-Identifier: Apache-2.0

/// Words in the languages of the exports for rows that are not readings: deleted, invalid and ignored rows.
///
/// In a remark or a longer name, many of them have another meaning. So a name or a cell must consist of them.
extension HeaderWords {
  private var parts: [String] { name.split { !$0.isLetter }.map(String.init) }

  /// Whether the name consists of a word such as `gelöscht` or `válido`, and of words such as `is`.
  var consistsOfRowMarks: Bool { consists(of: Self.deletions.union(Self.otherRowMarks)) }

  /// Whether a cell consists of a word that states that its row was deleted, or is invalid.
  var statesDeletion: Bool {
    consists(of: Self.deletions) && parts.allSatisfy { !Self.negations.contains($0) }
  }

  private func consists(of marks: Set<String>) -> Bool {
    let parts = parts
    return parts.contains(where: marks.contains)
      && parts.allSatisfy { marks.contains($0) || Self.rowMarkLinks.contains($0) }
  }

  private static func words(_ text: String) -> Set<String> {
    Set(text.split { $0.isWhitespace }.map(String.init))
  }

  private static let deletions = words(
    """
    deleted invalid voided discarded excluded
    gelöscht geloescht ungültig ungueltig verworfen ausgeschlossen
    supprimé supprimée effacé effacée invalide exclu exclue
    eliminado eliminada borrado borrada suprimido suprimida inválido inválida excluido excluida
    descartado descartada excluído excluída
    eliminato eliminata invalido invalida escluso esclusa scartato scartata
    ongeldig gewist uitgesloten slettet ugyldig udelukket ekskludert utelukket
    raderad raderat ogiltig ogiltigt utesluten uteslutet exkluderad
    nieważny nieważna nieważne wykluczony wykluczona wykluczone
    poistettu mitätön hylätty smazáno smazaný smazané neplatný neplatná neplatné vyloučeno
    удалено удален удалена недействительно исключено silindi silinmiş geçersiz
    """)

  /// Words that mark rows only as names of columns. A cell such as `entfernt` may be about a sensor.
  private static let otherRowMarks = words(
    """
    valid void removed ignore ignored discard outlier outliers artifact artifacts artefact duplicate demo dummy
    gültig gueltig entfernt storniert ausreißer fehlerhaft ignoriert ignoré ignorée
    ignorado ignorada ignorato ignorata genegeerd ignoreret ignorert ignorerad ignorerat
    zignorowany zignorowana zignorowane cancellato cancellata
    valide valides annulé annulée rejeté rejetée écarté écartée retiré retirée
    válido válida valido valida anulado anulada rechazado rechazada removido removida apagado apagada
    rimosso rimossa annullato annullata verwijderd geldig geannuleerd fjernet gyldig annulleret
    borttagen borttaget giltig giltigt usunięty usunięta usunięte ważny ważna ważne nieprawidłowy nieprawidłowa
    nieprawidłowe odrzucony odrzucona odrzucone virheellinen odstraněno platný platná platné geçerli
    """)

  private static let negations = words("not nicht non pas no não niet ikke ej inte nie ei ne не")

  private static let rowMarkLinks = words(
    """
    is was not by user value reading row record entry flag
    ist wurde nicht wert messwert messung eintrag est a été non pas valeur mesure saisie
    es fue está no valor registro lectura medición è stato valore misura é foi não leitura
    niet is waarde meting er ikke ej inte är værdi måling värde mätning verdi jest nie wartość pomiar on ei je
    """)
}
