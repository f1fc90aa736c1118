import TrellisTesting

extension StoreTool {
  /// Stores of all released versions, migrated to the model file that the server was started with.
  static let rehearse = StoreTool(
    name: "rehearse", title: "Rehearse migrations",
    summary: """
      Migrates stores of random objects, one of each released version, to the model file that the server was started with, and tells what \
      was lost, changed or broken without the model saying so. It works on temporary files; the store that is served is not touched. \
      Steps in Swift are part of the program, so versions that need them are left out, and named.
      """,
    parameters: [
      Parameter(name: "objects", schema: schema("integer", "About how many objects of each entity; 20 if not given.")),
      Parameter(name: "seed", schema: schema("integer", "Other objects than those of seed 1.")),
      Parameter(
        name: "seconds",
        schema: schema("integer", "No store is begun after this time; 10 if not given. A call ends at its own limit.")),
    ],
    result: [
      ("findings", schema("array", "What nobody has announced, with what to do. Empty if all is well.")),
      ("announced", schema("array", "What the model says that goes.")),
      ("omissions", schema("array", "What was not rehearsed, and why.")),
      ("runs", schema("array", "The stores, with their versions and times.")),
    ], requiredInResult: 4
  ) { arguments, store in
    var rehearsal = try Rehearse.rehearsal(of: store.modelFile ?? "")
    rehearsal.objects = try arguments.number("objects", in: 0...10_000) ?? 20
    rehearsal.seeds = [UInt64(try arguments.number("seed", in: 0...Int(Int32.max)) ?? 1)]
    rehearsal.timeLimit = .seconds(try arguments.number("seconds", in: 0...100_000) ?? 10)
    let report = try rehearsal.run()
    // A store that the end of the call has interrupted looks like one that cannot be opened.
    if let reason = CallLimit.current?.reason { throw reason }
    // An answer is one line. Texts in JSON have no line break.
    return RehearsalText(report, model: store.modelFile ?? "").json.split(separator: "\n").joined(separator: " ")
  }
}
