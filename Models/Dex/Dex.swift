extension Pokemon {
  /// The nickname, or the name.
  public var title: String { nickname ?? name }

  /// The sum of the six stats.
  public var total: Int {
    [hp, attack, defense, specialAttack, specialDefense, speed].reduce(0) { $0 + Int($1) }
  }
}

extension Species {
  /// The species that evolve from this one.
  public var evolvesTo: [Species] { link?.evolvesTo.compactMap(\.species) ?? [] }
}
