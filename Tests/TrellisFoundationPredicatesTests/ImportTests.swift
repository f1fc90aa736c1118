import Foundation
import Testing
import Trellis
import TrellisFoundationPredicates

@Suite("Predicates of Foundation") struct ImportTests {
  @Test("comparisons of every kind of value find what Foundation finds")
  func comparisons() throws {
    let shelf = try Shelf()
    let (genre, price, begun) = (Genre.poem, Decimal(20), Date(timeIntervalSince1970: 86_400))
    #expect(try shelf.titles(#Predicate { $0.title == "산책" }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.genre == genre }) == ["Café"])
    #expect(try shelf.titles(#Predicate { $0.genre != genre }) == ["산책", "cafés"])
    #expect(try shelf.titles(#Predicate { $0.pages >= 120 }) == ["산책", "cafés"])
    #expect(try shelf.titles(#Predicate { $0.price > price }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { $0.weight < 0.5 }) == ["Café"])
    #expect(try shelf.titles(#Predicate { $0.begun <= begun }) == ["Café", "산책"])
    #expect(try shelf.titles(#Predicate { $0.isOut }) == ["Café", "cafés"])
    #expect(try shelf.titles(#Predicate { !$0.isOut }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.isOut == false }) == ["산책"])
    let code = try shelf.context.fetch(Work.where { $0.title == "Café" })[0].code
    #expect(try shelf.titles(#Predicate { $0.code == code }) == ["Café"])
  }

  @Test("logic, lists and ranges")
  func logic() throws {
    let shelf = try Shelf()
    let (genres, pages, open) = ([Genre.poem, .novel], Int64(1)...120, Int64(12)..<120)
    #expect(try shelf.titles(#Predicate { $0.pages > 100 && ($0.isOut || $0.title == "산책") }) == ["산책", "cafés"])
    #expect(try shelf.titles(#Predicate { genres.contains($0.genre) }) == ["Café", "cafés"])
    #expect(try shelf.titles(#Predicate { pages.contains($0.pages) }) == ["Café", "산책"])
    #expect(try shelf.titles(#Predicate { open.contains($0.pages) }) == ["Café"])
    #expect(try shelf.titles(#Predicate { (100...200).contains($0.pages) }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.isOut ? $0.pages > 100 : $0.pages > 1000 }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { ($0.isOut ? $0.pages : 0) == 12 }) == ["Café"])
    #expect(try shelf.titles(#Predicate<Work> { _ in true }).count == 3)
    #expect(try shelf.titles(#Predicate<Work> { _ in false }) == [])
  }

  @Test("nil is what it is in Swift, behind '?', '??', '!' and flatMap")
  func optionals() throws {
    let shelf = try Shelf()
    let mentor = try shelf.context.fetch(Writer.where { $0.name == "Éluard" })[0].objectID
    #expect(try shelf.titles(#Predicate { $0.subtitle == nil }) == ["Café"])
    #expect(try shelf.titles(#Predicate { $0.subtitle != nil }) == ["산책", "cafés"])
    #expect(try shelf.titles(#Predicate { $0.subtitle != "" }) == ["Café", "cafés"])
    #expect(try shelf.titles(#Predicate { ($0.stars ?? 9) > 3 }) == ["Café", "산책"])
    #expect(try shelf.titles(#Predicate { !(($0.stars ?? 9) > 3) }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { $0.subtitle?.contains("Paris") == true }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { $0.subtitle?.contains("Paris") == false }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.subtitle?.contains("Paris") == nil }) == ["Café"])
    #expect(try shelf.titles(#Predicate { $0.subtitle?.contains("Paris") != true }) == ["Café", "산책"])
    #expect(try shelf.titles(#Predicate { $0.subtitle?.isEmpty ?? true }) == ["Café", "산책"])
    #expect(try shelf.titles(#Predicate { $0.author?.name == "Kim" }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.author?.mentor?.name == "Éluard" }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.author?.mentor?.objectID == mentor }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.author?.objectID == nil }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { $0.author?.works.count == 0 }) == [])
    #expect(try shelf.titles(#Predicate { $0.author?.pupils.count == 0 }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.author?.pupils.isEmpty == true }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.stars.flatMap { $0 > 3 } == true }) == ["산책"])
  }

  @Test("members of to-manys: contains, allSatisfy, filter, count and isEmpty")
  func members() throws {
    let shelf = try Shelf()
    #expect(try shelf.titles(#Predicate { $0.reviews.contains { $0.points == 3 } }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.reviews.allSatisfy { $0.points > 2 } }) == ["산책", "cafés"])
    #expect(try shelf.titles(#Predicate { $0.reviews.count == 2 }) == ["Café", "산책"])
    #expect(try shelf.titles(#Predicate { $0.reviews.isEmpty }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { $0.reviews.filter { $0.points > 3 }.count == 1 }) == ["Café", "산책"])
    #expect(try shelf.titles(#Predicate { $0.reviews.filter { $0.points < 3 }.isEmpty }) == ["산책", "cafés"])
    #expect(
      try shelf.titles(#Predicate { $0.reviews.filter { $0.points > 3 }.contains { $0.text == "review 1" } }) == [
        "Café"
      ])
    #expect(try shelf.titles(#Predicate { work in work.reviews.contains { $0.points * 23 == work.pages } }) == [])
    #expect(try shelf.titles(#Predicate { work in work.reviews.contains { $0.points * 40 == work.pages } }) == ["산책"])
    #expect(
      try shelf.names(#Predicate { $0.pupils.contains { $0.works.contains { $0.reviews.count > 1 } } }) == ["Éluard"])
  }

  @Test("arithmetic")
  func arithmetic() throws {
    let shelf = try Shelf()
    let two = Decimal(2)
    #expect(try shelf.titles(#Predicate { $0.pages * 2 + 1 == 25 }) == ["Café"])
    #expect(try shelf.titles(#Predicate { $0.pages / 50 == 2 }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.pages % 100 == 20 }) == ["산책"])
    #expect(try shelf.titles(#Predicate { -$0.pages < -500 }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { $0.weight / 2 >= 0.25 }) == ["산책", "cafés"])
    #expect(try shelf.titles(#Predicate { $0.price * two == 7 }) == ["Café"])
  }

  @Test("texts: contains, starts(with:), localizedStandardContains and lengths")
  func texts() throws {
    let shelf = try Shelf()
    let word = "CAFE"
    #expect(try shelf.titles(#Predicate { $0.title.contains("af") }) == ["Café", "cafés"])
    #expect(try shelf.titles(#Predicate { $0.title.starts(with: "caf") }) == ["cafés"])
    #expect(try shelf.titles(#Predicate { $0.title.localizedStandardContains(word) }) == ["Café", "cafés"])
    #expect(try shelf.titles(#Predicate { $0.title.unicodeScalars.count == 2 }) == ["산책"])
    #expect(try shelf.titles(#Predicate { $0.title.isEmpty }) == [])
  }

  @Test("a predicate on a child's class knows the properties of the classes above")
  func hierarchy() throws {
    let shelf = try Shelf()
    #expect(try shelf.context.fetch(Series.all.where(#Predicate { $0.title == "cafés" && $0.volumes == 3 })).count == 1)
  }

  @Test("it stands beside other conditions, and beside others by or")
  func joining() throws {
    let shelf = try Shelf()
    let out = #Predicate<Work> { $0.isOut }
    #expect(try shelf.context.fetch(Work.where { $0.pages > 100 }.where(out)).map(\.title) == ["cafés"])
    #expect(try shelf.context.count(Work.where("pages == %d", 120).or(out)) == 3)
  }

  @Test("the sample of the guide")
  func guide() throws {
    let context = try Shelf().context
    let many = #Predicate<Work> { $0.pages > 100 && $0.reviews.contains { $0.points == 5 } }
    let works = try context.fetch(Work.all.where(many))
    let others = try context.fetch(Work.where { $0.genre == .poem }.or(many))
    #expect(works.map(\.title) == ["산책"] && others.map(\.title) == ["Café", "산책"])
  }
}
