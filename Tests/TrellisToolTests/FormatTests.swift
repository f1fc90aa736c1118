import Foundation
import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@Suite("trellis format") struct FormatTests {
  // MARK: The layout

  private func formatted(_ text: String) throws -> String {
    let folder = try ToolFolder()
    try folder.write(text, to: "M.model.json")
    #expect(try folder.run("format", "M.model.json") == .init(status: 0))
    return try folder.text(of: "M.model.json")
  }

  @Test("a model has one declaration per line, and what fits in a line stands in one")
  func layout() throws {
    let text = #"""
      {"$schema":"../model.schema.json","model":"Shop","enums":{"Size":{"type":"int","cases":["small","large"]}},
      "entities":{"Product":{"attributes":{"name":"string","price":{"type":"decimal","min":1.50e0,"max":-0.0}},
      "relationships":{"parts":{"destination":"Part","toMany":true,"ordered":true,"inverse":"product","deleteRule":
      "cascade","doc":"커피\u0020What the product is made of."}},"unique":[["name"]],"indexes":[]},"Part":{"relationships":{
      "product":{"destination":"Product","inverse":"parts"}}},"Empty":{}}}
      """#
    #expect(
      try formatted(text) == #"""
        {
          "$schema": "../model.schema.json",
          "model": "Shop",
          "enums": { "Size": { "type": "int", "cases": ["small", "large"] } },
          "entities": {
            "Product": {
              "attributes": {
                "name": "string",
                "price": { "type": "decimal", "min": 1.50e0, "max": -0.0 }
              },
              "relationships": {
                "parts": {
                  "destination": "Part", "toMany": true, "ordered": true, "inverse": "product", "deleteRule": "cascade",
                  "doc": "커피\u0020What the product is made of."
                }
              },
              "unique": [["name"]],
              "indexes": []
            },
            "Part": { "relationships": { "product": { "destination": "Product", "inverse": "parts" } } },
            "Empty": {}
          }
        }

        """#)
  }

  @Test("a list or an object of plain values is filled up to column 120, and a list of objects has a line for each")
  func lists() throws {
    let names = (10..<30).map { #""name\#($0)""# }.joined(separator: ",")
    #expect(
      try formatted(
        #"{"model":"M","enums":{"E":{"type":"string","cases":[\#(names)]},"#
          + #""F":{"type":"string","cases":[{"name":"a"},{"name":"b"}]}}}"#) == """
          {
            "model": "M",
            "enums": {
              "E": {
                "type": "string",
                "cases": [
                  "name10", "name11", "name12", "name13", "name14", "name15", "name16", "name17", "name18", "name19", "name20",
                  "name21", "name22", "name23", "name24", "name25", "name26", "name27", "name28", "name29"
                ]
              },
              "F": {
                "type": "string",
                "cases": [
                  { "name": "a" },
                  { "name": "b" }
                ]
              }
            }
          }

          """)
  }

  @Test("a line of 120 columns stays whole with its comma, and one of 121 is broken")
  func width() throws {
    for (count, isBroken) in [(75, false), (76, true)] {
      let doc = String(repeating: "커", count: count)
      let text = try formatted(
        #"{"model":"M","entities":{"A":{"attributes":{"a":{"type":"string","doc":"\#(doc)"},"b":"bool"}}}}"#)
      let lines = text.split(separator: "\n")
      #expect(lines.contains { $0.hasPrefix(#"        "a": { "type""#) } == !isBroken)
      #expect(lines.contains { $0.unicodeScalars.count == 120 } == !isBroken)
    }
  }

  @Test("a byte order mark goes, and line breaks of Windows stay")
  func lineBreaks() throws {
    #expect(try formatted("\u{FEFF}{\r\n\"model\":\"M\"}\n") == "{\r\n  \"model\": \"M\"\r\n}\r\n")
  }

  @Test("the sample models are in the layout", arguments: ["Dex", "Diary", "InnerInterview", "ReceiptMind"])
  func samples(name: String) throws {
    let file = ToolFolder.root.appending(path: "Models/\(name)/\(name).model.json")
    #expect(try ToolFolder().run("format", "--check", file.path) == .init(status: 0))
  }

  // MARK: Files

  @Test("--check lists the files that would change, and changes none")
  func check() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M" }"#, to: "M.model.json")
    try folder.write("{\n  \"model\": \"N\"\n}\n", to: "N.model.json")
    #expect(
      try folder.run("format", "--check", "M.model.json", "N.model.json") == .init(status: 1, output: "M.model.json\n"))
    #expect(try folder.text(of: "M.model.json") == #"{ "model": "M" }"#)
  }

  @Test("a file with errors in its JSON stays as it is, with its diagnostics, and the others are formatted")
  func refused() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M", }"#, to: "M.model.json")
    try folder.write(#"{ "model": "N" }"#, to: "N.model.json")
    #expect(
      try folder.run("format", "M.model.json", "N.model.json")
        == .init(
          status: 1,
          errors:
            "M.model.json:1:15: error: The ',' before '}' must go; JSON has no trailing commas. [trailing-comma]\n"))
    #expect(try folder.text(of: "M.model.json") == #"{ "model": "M", }"#)
    #expect(try folder.text(of: "N.model.json") == "{\n  \"model\": \"N\"\n}\n")
  }

  @Test("a file keeps its permissions and a link stays one, and nothing else is left in the folder")
  func permissions() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M" }"#, to: "real/M.model.json")
    chmod(folder.folder.path("real/M.model.json"), 0o640)
    try FileManager.default.createSymbolicLink(
      atPath: folder.folder.path("M.model.json"), withDestinationPath: "real/M.model.json")
    #expect(try folder.run("format", "M.model.json") == .init(status: 0))
    #expect(try folder.text(of: "real/M.model.json") == "{\n  \"model\": \"M\"\n}\n")
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.folder.path("real/M.model.json"))
    #expect(attributes[.posixPermissions] as? Int == 0o640)
    #expect(try folder.names() == ["M.model.json", "real"])
    #expect(try folder.names(in: "real") == ["M.model.json"])
    #expect(throws: Never.self) {
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.folder.path("M.model.json"))
    }
  }

  @Test("a read-only file is not replaced")
  func readOnly() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M" }"#, to: "M.model.json")
    chmod(folder.folder.path("M.model.json"), 0o444)
    #expect(
      try folder.run("format", "M.model.json")
        == .init(status: 74, errors: "M.model.json: error: The file cannot be written: it is read-only.\n"))
    #expect(try folder.text(of: "M.model.json") == #"{ "model": "M" }"#)
  }
}
