import Trellis

/// Pairs of many-to-manys and one-way to-manys that came or went by calls of one context and are not saved: merges unite them
/// with what others did.
struct PairEdits {
  private struct Pair: Hashable {
    let shape: Int
    let owner: Int
    let member: Int
  }

  private unowned let village: Village
  /// Whether a pair came; otherwise it went.
  private var pairs: [Pair: Bool] = [:]

  init(_ village: Village) { self.village = village }

  mutating func forget() { pairs = [:] }

  /// Takes note of an operation that was carried out on what the store holds.
  ///
  /// - Parameter deleted: The objects that are deleted here, of which no list shows anything.
  mutating func note(_ operation: Operation, _ stored: Picture, deleted: [Int]) {
    switch operation {
    case .append(let owner, let shape, let member), .insertAt(let owner, let shape, let member, _):
      note(owner, shape, member, stored, isComing: true)
    case .remove(let owner, let shape, let member): note(owner, shape, member, stored, isComing: false)
    case .replace(let owner, let shape, let members):
      for member in stored.objects.indices where !deleted.contains(member) {
        note(owner, shape, member, stored, isComing: members.contains(member))
      }
    default: break
    }
  }

  private mutating func note(_ owner: Int, _ shape: Shape, _ member: Int, _ stored: Picture, isComing: Bool) {
    guard case .joinTable(_, let isFirst) = village.rules.homes[shape.index],
      let place = village.plan.touched.firstIndex(where: { $0.index == shape.index })
    else { return }
    let isOwnInverse = shape.inverse == shape.index
    let isTurned = isOwnInverse ? member < owner : !isFirst && shape.inverse != nil
    let pair = Pair(
      shape: isTurned ? shape.inverse ?? shape.index : shape.index, owner: isTurned ? member : owner,
      member: isTurned ? owner : member)
    let isStored = stored.objects[owner]?.partners[place].contains(member) == true
    pairs[pair] = isStored == isComing ? nil : isComing
  }

  /// What others have done as well is no edit of this context any more.
  mutating func settle(_ stored: Picture) {
    pairs = pairs.filter { pair, hasCome in
      guard let place = village.plan.touched.firstIndex(where: { $0.index == pair.shape }),
        stored.objects.indices.contains(pair.owner)
      else { return true }
      return stored.objects[pair.owner]?.partners[place].contains(pair.member) != hasCome
    }
  }

  /// A pair that went here has gone from the store with one of its objects. If that returns, so do the pairs that others give it.
  mutating func forgetRemovals(missingIn stored: Picture) {
    if pairs.isEmpty { return }
    func isMissing(_ number: Int) -> Bool { !stored.objects.indices.contains(number) || stored.objects[number] == nil }
    pairs = pairs.filter { pair, hasCome in hasCome || !(isMissing(pair.owner) || isMissing(pair.member)) }
  }

  /// - Parameter living: The objects that others have deleted and that live on, with the pairs that were added to them here.
  func check(_ seen: Picture, livingOn living: Set<Int> = []) throws {
    for (place, shape) in village.plan.touched.enumerated() {
      for (pair, hasCome) in pairs where pair.shape == shape.index {
        guard !living.contains(pair.owner), !living.contains(pair.member), seen.objects[pair.member] != nil,
          let partners = seen.objects[pair.owner]?.partners[place]
        else {
          continue
        }
        guard partners.contains(pair.member) != hasCome else { continue }
        throw Village.Difference(
          description:
            "\(pair.owner).\(shape.name) is \(partners), though \(pair.member) \(hasCome ? "came" : "went") here")
      }
    }
  }
}
