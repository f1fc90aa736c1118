import Foundation
import Testing
import Trellis
import TrellisInnerInterviewModel

@Suite("The guide to relationships") final class RelationshipsGuideTests: GuideRun {
  @Test("the samples print what the guide says")
  func samples() throws {
    let context = try PersistentContainer(model: .innerInterview, store: .memory).newContext()
    let subject = Subject(in: context, title: "Fear")
    let what = Question(in: context, text: "What?", subject: subject)
    let since = Question(in: context, text: "Since when?")
    since.subject = subject
    print(subject.questions.map(\.text))

    subject.questions.append(Question(in: context, text: "Why?"))
    subject.questions.insert(Question(in: context, text: "Where?"), at: 1)
    subject.questions.move(from: 3, to: 0)
    print(subject.questions.map(\.text))

    subject.questions.append(what)
    print(subject.questions.map(\.text))

    let record = Record(in: context, answer: "The dark", question: what)
    since.record = record
    print(what.record == nil, record.question === since)

    let joy = Subject(in: context, title: "Joy")
    joy.questions = [what, since]
    print(subject.questions.map(\.text), joy.questions.map(\.text))

    joy.questions.remove(since)
    print(since.subject == nil, since.isDeleted)

    do {
      try context.save()
    } catch let error as ValidationError {
      print(error.failures.map { "\($0.entity).\($0.property) \($0.message)" })
    }
    try context.delete(since)
    try context.save()
    print(subject.questions.count, joy.questions.count)

    let other = Record(in: context, answer: "The sea", question: what)
    let night = Keyword(in: context, word: "night")
    other.keywords.append(night)
    print(night.records.map(\.answer), night.records.contains(other))

    night.records.removeAll()
    print(other.keywords.isEmpty)

    try expectPrinted(as: "Relationships")
  }

  @Test("the declaration of the guide stands in the sample model")
  func declaration() throws {
    let file = Page.root.appending(path: "Models/InnerInterview/InnerInterview.model.json")
    let model = Self.trimmed(try String(contentsOf: file, encoding: .utf8))
    let pieces = try Page("Relationships").models
    #expect(pieces.count == 1 && pieces.allSatisfy { model.contains(Self.trimmed($0)) })
  }
}
