// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

@Suite struct StatedPersonTests {
  private func words(_ name: String) -> [String] { StatedPerson(name: name)?.words.sorted() ?? [] }

  @Test func theNameOfAPersonIsComparedWithoutAccentsTitlesAndInitials() {
    #expect(words("Dr. Anna-Maria Müller") == ["anna", "maria", "muller"])
    #expect(words("MUELLER, Anna  M.") == ["anna", "muller"])
    #expect(words("Łukasz Gro\u{0301}ß") == ["gross", "lukasz"])
    #expect(words("Søren Ærø") == words("soren aero"))
    #expect(words("李 小龙") == words("李小龙") && words("李 小龙").count == 3)
  }

  @Test(arguments: [
    "", "  ", "XXX", "xxx xxx", "Anonymous", "Patient Data", "Patient 01", "Sample", "12345", "J.", "-",
  ])
  func aPlaceholderIsNotTheNameOfAPerson(_ name: String) {
    #expect(StatedPerson(name: name) == nil, "\(words(name))")
  }

  @Test(arguments: [
    ("Ayşe Yıldız", "AYSE YILDIZ"), ("Γιώργος Παπαδόπουλος", "ΓΙΩΡΓΟΣ ΠΑΠΑΔΟΠΟΥΛΟΣ"),
    ("Андрей Семёнов", "Андреи\u{0306} Семенов"), ("Guðrún Þórsdóttir", "Gudrun Thorsdottir"),
    ("Œuvrard", "oeuvrard"), ("Əli Məmmədov", "Ali Mammadov"), ("Ａｎｎａ Sample", "Anna Sample"),
    ("Pat O'Brien", "Pat OBrien"), ("Pat O\u{2019}Brien", "Pat O'Brien"), ("김민수", "김 민수"),
  ])
  func aPersonsNameHasTheSameWordsInEachSpelling(_ one: String, _ other: String) {
    #expect(words(one) == words(other) && !words(one).isEmpty, "\(words(one)) \(words(other))")
  }

  @Test func namesOfAPersonAgreeIfOneHasAllWordsOfTheOther() {
    func agree(_ one: String, _ other: String) -> Bool {
      StatedPerson.agree(Set(words(one)), Set(words(other)))
    }
    #expect(agree("Anna Sample", "sample, ANNA") && agree("Anna", "Anna Sample"))
    #expect(agree("Jan van der Berg", "Jan Berg") && agree("Anna García López", "Anna Garcia"))
    #expect(!agree("Anna Sample", "Ben Sample") && !agree("Anna", "Ben"))
    #expect(!agree("Anna Miller", "Anna Sample"))
    // Brothers and sisters have only the family name in common, so their names do not agree.
    for (one, other) in [
      ("Anna García López", "Luis García López"), ("Jan van der Berg", "Anna van der Berg"),
      ("Anna Meier-Huber", "Ben Meier-Huber"), ("Nguyễn Văn An", "Nguyễn Văn Bình"),
    ] {
      #expect(!agree(one, other), "\(one) \(other)")
    }
  }

  @Test func idsOfAPersonAreEqualOnlyWithinOneFormat() throws {
    let one = try #require(StatedPerson(id: " AB 12 ", of: "fhir"))
    #expect(one == StatedPerson(id: "ab12", of: "fhir") && one != StatedPerson(id: "ab12", of: "glooko"))
    #expect(StatedPerson(id: "", of: "x") == nil && StatedPerson(id: "0", of: "x") == nil)
    #expect(StatedPerson(id: "1", of: "x") != nil && StatedPerson(label: "Subject 01", of: "x")?.kind == .id)
  }

  @Test func aDateOfBirthIsReadTheSameFromEachNotation() {
    let date = StatedPerson(birthDate: "1980-05-06")
    #expect(
      date != nil && date == StatedPerson(birthDate: "6/5/1980")
        && date == StatedPerson(birthDate: "05.06.1980"))
    for text in ["", "6/5/80", "1980", "2026-05-06T08:00", "1980-40-40", "5-6-7"] {
      #expect(StatedPerson(birthDate: text)?.words != date?.words, "\(text)")
    }
    #expect(StatedPerson(birthDate: "1/1/1970") == nil && StatedPerson(birthDate: "1970-01-02") != nil)
  }
}
