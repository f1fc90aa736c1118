import Foundation
import Trellis

/// One of several programs that write one store: it does what it is told line by line, and answers each line with one.
final class Writer {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init(_ store: StoreConfiguration) throws {
    container = try PersistentContainer(model: .rivals, store: store) { _ in }
    context = container.newContext()
  }

  func answer(_ line: String) -> String {
    let words = line.split(separator: " ").map(String.init)
    do { return try answer(words.first ?? "", Array(words.dropFirst())) } catch { return Self.name(of: error) }
  }

  private func answer(_ command: String, _ words: [String]) throws -> String {
    let name = words.first ?? ""
    let number = words.last.flatMap { Int64($0) } ?? 0
    switch command {
    case "seed": try seed()
    case "read": return try read()
    case "save": try context.save(mergePolicy: Self.policy(name))
    case "rollback": context.rollback()
    case "stored": return try stored()
    case "add": try add(name, words.last ?? "")
    case "remove": try board().crew.remove(try found(Pin.where { $0.name == name }))
    case "delete": try context.delete(try object(name, words.last ?? ""))
    case "counter": _ = Counter(in: context, name: name, value: number)
    case "set": try counter(name).value = number
    case "value": return "\(try counter(name).value)"
    case "refresh": try context.refresh(try counter(name))
    case "above": return "\(try context.count(Counter.where { $0.value > number }))"
    case "churn": return try churn(name, milliseconds: Int(number))
    case "stamps": return try stamps()
    default: return "unknown command"
    }
    return "done"
  }

  /// What went wrong, in a word or a few.
  private static func name(of error: any Error) -> String {
    switch error {
    case is SaveConflict: "conflict"
    case let error as ValidationError:
      "refused: " + error.failures.map { "\($0.rule.rawValue) \($0.property)" }.joined(separator: ", ")
    case let error as StoreError: "store: \(error.code.rawValue)"
    default: "\(error)"
    }
  }

  private static func policy(_ name: String) -> MergePolicy? {
    MergePolicy.allCases.first { "\($0)" == name }
  }

  // MARK: The graph

  private func seed() throws {
    let box = Box(in: context, name: "box")
    for name in ["1", "2"] {
      _ = Item(in: context, name: name, box: box)
      _ = Slip(in: context, name: name, box: box)
    }
    let board = Board(in: context)
    board.crew = ToMany(["1", "2"].map { Pin(in: context, name: $0) })
    let subject = Subject(in: context)
    for name in ["1", "2"] { _ = Question(in: context, name: name, subject: subject) }
    for (name, value) in [("x", 10), ("y", 20)] { _ = Counter(in: context, name: name, value: Int64(value)) }
    try context.save()
  }

  /// Loads everything, and says what of it is in memory.
  private func read() throws -> String {
    for name in ["x", "y"] { _ = try counter(name).value }
    return try Self.picture(context)
  }

  private func stored() throws -> String { try Self.picture(container.newContext()) }

  private static func picture(_ context: ManagedObjectContext) throws -> String {
    let box = try context.first(Box.all)
    let sides = [
      "items \(box?.items.count ?? -1)", "slips \(try context.count(Slip.all))", "locks \(box?.locks.count ?? -1)",
      "labels \(box?.labels.count ?? -1)", "crew \(try context.first(Board.all)?.crew.count ?? -1)",
      "questions \(try context.first(Subject.all)?.questions.count ?? -1)",
    ]
    let counters = try context.fetch(Counter.all.sorted { $0.name }).map { "\($0.name) \($0.value)" }
    return (sides + counters).joined(separator: ", ")
  }

  private func add(_ kind: String, _ name: String) throws {
    let box = try found(Box.all)
    switch kind {
    case "item": _ = Item(in: context, name: name, box: box)
    case "slip": _ = Slip(in: context, name: name, box: box)
    case "lock": _ = Lock(in: context, name: name, box: box)
    case "label": box.labels.append(Label(in: context, name: name))
    case "pin": try board().crew.append(Pin(in: context, name: name))
    default: break
    }
  }

  private func object(_ kind: String, _ name: String) throws -> ManagedObject {
    switch kind {
    case "question": try found(Question.where { $0.name == name })
    case "pin": try found(Pin.where { $0.name == name })
    default: try found(Box.all)
    }
  }

  private func board() throws -> Board { try found(Board.all) }
  private func counter(_ name: String) throws -> Counter { try found(Counter.where { $0.name == name }) }

  private func found<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Columns.Object {
    guard let object = try context.first(request) else { throw Missing() }
    return object
  }

  private struct Missing: Error {}

  // MARK: As fast as it goes

  /// Saves a stamp of its own and raises a counter that all share, again and again.
  ///
  /// - Returns: how often.
  private func churn(_ writer: String, milliseconds: Int) throws -> String {
    let end = ContinuousClock.now.advanced(by: .milliseconds(milliseconds))
    var number: Int64 = 0
    repeat {
      number += 1
      _ = try context.saveRetrying(atMost: .max) {
        _ = Stamp(in: context, writer: writer, number: number)
        let all = try context.first(Counter.where { $0.name == "all" }) ?? Counter(in: context, name: "all")
        all.value += 1
      }
    } while ContinuousClock.now < end
    return "\(number)"
  }

  /// How many stamps there are, how many different ones, and what the shared counter says.
  private func stamps() throws -> String {
    let all = try container.newContext().values(of: Stamp.all) { ($0.writer, $0.number) }
    let different = Set(all.map { "\($0.0) \($0.1)" })
    return "\(all.count) \(different.count) \(try counter("all").value)"
  }
}
