/// What parsing and help have to know of the commands on the objects of a store.
extension ToolCommand {
  struct Explanation {
    let operands: String
    let needed: String
    let count: ClosedRange<Int>
    let options: [Option]
    let summary: String
    let details: String
  }

  private static let json = Option(name: "json", value: nil, summary: "print JSON for other programs")
  private static let write = Option(name: "write", value: nil, summary: "write the change; without it, only tell it")
  private static let pages = [
    Option(name: "sort", value: "NAMES", summary: "sort by properties with commas between, -name from the greatest on"),
    Option(name: "limit", value: "N", summary: "print N objects at most"),
    Option(name: "offset", value: "N", summary: "leave out the first N objects"),
  ]
  private static let changes = """
    Without --write, the file is only read: the change is checked by all rules of the model and printed, and the exit
    code is 2. With broken rules, each is printed, nothing is written in any case, and the exit code is 1. Hooks do not
    run, since they are code of the program.
    """

  /// The explanation of a command on objects; nil for any other command.
  var explanation: Explanation? {
    switch self {
    case .list:
      Explanation(
        operands: "STORE [ENTITY]", needed: "a STORE", count: 1...2,
        options: [Option(name: "where", value: "FORMAT", summary: "only the objects that match a predicate")]
          + Self.pages + [Self.json],
        summary: "list the entities of a store, or the objects of one",
        details: "The store is only read. Objects of subentities are listed, too. Columns that do not fit are left out."
      )
    case .show:
      Explanation(
        operands: "STORE OBJECT", needed: "a STORE and an OBJECT", count: 2...2, options: [Self.json],
        summary: "show an object of a store with its values and partners",
        details: "OBJECT is the entity and the key, as in Tag#7. Exit 1 if there is none. The store is only read.")
    case .query:
      Explanation(
        operands: "STORE ENTITY FORMAT [VALUE...]", needed: "a STORE, an ENTITY and a FORMAT", count: 3...Int.max,
        options: [
          Option(name: "explain", value: nil, summary: "print how the store finds the objects, and a missing index"),
          Option(name: "count", value: nil, summary: "print the number of objects"),
        ] + Self.pages + [Self.json],
        summary: "list the objects that match a predicate",
        details: """
          FORMAT is a predicate in the format language, and each VALUE stands for one %@ in it: a number, true, a date, a
          UUID, an object as Tag#7, nil or a text. The store is only read.
          """)
    case .get:
      Explanation(
        operands: "STORE OBJECT PROPERTY", needed: "a STORE, an OBJECT and a PROPERTY", count: 3...3,
        options: [Self.json], summary: "print one value of an object, whole",
        details:
          "A relationship prints a line for each partner. What is printed is what set takes. The store is only read.")
    case .set:
      Explanation(
        operands: "STORE OBJECT NAME=VALUE...", needed: "a STORE, an OBJECT and a NAME=VALUE", count: 3...Int.max,
        options: [Self.write], summary: "change values and partners of an object",
        details: """
          A VALUE is a text, a number, an ISO 8601 date, true or false, the name of a case, Base64, JSON for lists and
          structs, or nil. Partners are named: diary=EmotionDiary#3, tags=Tag#1,Tag#2, tags+=Tag#3, tags-=Tag#4.

          """ + Self.changes)
    case .insert:
      Explanation(
        operands: "STORE ENTITY [NAME=VALUE...]", needed: "a STORE and an ENTITY", count: 2...Int.max,
        options: [Self.write], summary: "insert an object",
        details: "Values are written as for set. The model's defaults apply to what is not given.\n" + Self.changes)
    case .delete:
      Explanation(
        operands: "STORE OBJECT...", needed: "a STORE and an OBJECT", count: 2...Int.max, options: [Self.write],
        summary: "delete objects by the delete rules of the model", details: Self.changes)
    case .seed:
      Explanation(
        operands: "MODEL STORE N", needed: "a MODEL, a STORE and a number", count: 3...3,
        options: [Option(name: "seed", value: "S", summary: "other objects than those of seed 1")],
        summary: "fill a new store with random objects that the model allows",
        details: """
          About N objects of each entity are made, and more where the rules ask for partners. The same seed makes the same
          objects. STORE is a JSON document if its name ends in .json, otherwise a SQLite file. Exit 2 if something that
          the model asks for could not be met, which is then told.
          """)
    default: nil
    }
  }
}
