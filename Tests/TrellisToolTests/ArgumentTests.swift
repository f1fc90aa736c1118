import Testing

@Suite("Arguments of the tool") struct ArgumentTests {
  @Test(
    "what cannot be meant is named, with the usage and exit code 64",
    arguments: [
      ([], "error: A command is missing.\nusage: trellis <command> ..., and `trellis help` lists the commands\n"),
      (
        ["chekc"],
        "error: 'chekc' is no command; did you mean 'check'?\n"
          + "usage: trellis <command> ..., and `trellis help` lists the commands\n"
      ),
      (
        ["find", "store.sqlite"],
        "error: 'find' is no command; did you mean 'query'?\n"
          + "usage: trellis <command> ..., and `trellis help` lists the commands\n"
      ),
      (
        ["--json", "check"],
        "error: '--json' is no option that stands before a command.\n"
          + "usage: trellis <command> ..., and `trellis help` lists the commands\n"
      ),
      (
        ["help", "xyz"],
        "error: 'xyz' is no command.\nusage: trellis <command> ..., and `trellis help` lists the commands\n"
      ),
      (["check"], "error: check needs one MODEL at least.\nusage: trellis check [--json] MODEL...\n"),
      (
        ["check", "--jsn", "a"],
        "error: '--jsn' is no option of check; did you mean '--json'?\nusage: trellis check [--json] MODEL...\n"
      ),
      (
        ["check", "-json", "a"],
        "error: '-json' is no option of check; did you mean '--json'?\nusage: trellis check [--json] MODEL...\n"
      ),
      (["check", "--json=1", "a"], "error: --json takes no value.\nusage: trellis check [--json] MODEL...\n"),
      (
        ["format", "--check", "--check", "a"],
        "error: --check is given twice.\nusage: trellis format [--check] MODEL...\n"
      ),
      (
        ["release", "a", "b\nc"],
        "error: 'b\u{FFFD}c' is more than release takes.\nusage: trellis release [--history FOLDER] MODEL\n"
      ),
      (
        ["release", "a", "--history"],
        "error: --history needs FOLDER.\nusage: trellis release [--history FOLDER] MODEL\n"
      ),
      (
        ["release", "--history=", "a"],
        "error: --history needs FOLDER.\nusage: trellis release [--history FOLDER] MODEL\n"
      ),
      (["release", ""], "error: MODEL is empty.\nusage: trellis release [--history FOLDER] MODEL\n"),
      (
        ["diff", "a", ""],
        "error: NEW is empty.\nusage: trellis diff [--store FILE] [--api] [--check NAMES] [--json] OLD NEW\n"
      ),
      (
        ["diff", "a"],
        "error: diff needs OLD and NEW.\nusage: trellis diff [--store FILE] [--api] [--check NAMES] [--json] OLD NEW\n"
      ),
    ])
  func refused(_ arguments: [String], errors: String) throws {
    #expect(try ToolFolder().run(arguments) == .init(status: 64, errors: errors))
  }

  @Test(
    "an empty operand is named as in the usage, and values may be empty",
    arguments: [
      (["query", "s", "T", ""], "FORMAT"), (["query", "s", "", "a == 1"], "ENTITY"),
      (["query", "", "T", "a == 1"], "STORE"),
      (["set", "s", "T#1", ""], "NAME=VALUE"), (["import-csv", "s", "T", ""], "FILE"), (["check", ""], "MODEL"),
      (["delete", "s", ""], "OBJECT"),
    ])
  func empty(_ arguments: [String], _ name: String) throws {
    let outcome = try ToolFolder().run(arguments)
    #expect(outcome.status == 64 && outcome.errors.hasPrefix("error: \(name) is empty.\nusage: "), "\(outcome)")
  }

  @Test("the help lists the commands, and each command explains itself, whatever else is asked")
  func help() throws {
    let folder = try ToolFolder()
    let overview = try folder.run("help")
    #expect(overview.status == 0 && overview.errors == "")
    #expect(try folder.run("--help") == overview)
    for command in [
      "check", "format", "release", "rehearse", "diff", "diagram", "describe", "types", "import-csv", "export-csv",
    ] {
      let help = try folder.run("help", command)
      #expect(help.status == 0 && help.errors == "")
      #expect(help.output.hasPrefix("usage: trellis \(command) "))
      #expect(overview.output.contains("\n  \(command) "))
      #expect(try folder.run(command, "--nothing", "--help") == help)
    }
  }

  @Test("after -- an argument is a file, whatever it looks like")
  func dashes() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M" }"#, to: "--json")
    #expect(try folder.run("check", "--", "--json") == .init(status: 0))
  }
}
