import TrellisModel

/// What all pages share.
struct Layout {
  private let site: Site

  init(_ site: Site) { self.site = site }

  /// A page with its title and its way back.
  ///
  /// - Parameter trail: The pages above this one, with their addresses.
  func page(_ title: String, _ trail: [(name: String, address: String)], _ content: HTML) -> HTML {
    let steps: [HTML] = trail.map { "<a href=\"\($0.address)\">\($0.name)</a> › " }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title) – \(site.name)</title>
      <link rel="stylesheet" href="\(site.address("style.css"))">
      </head>
      <body>
      <header><a class="store" href="\(site.address())">\(site.name)</a>\
      <span class="mode">\(site.isWritable ? "may be changed" : "only read")</span></header>
      <nav>\(steps)<b>\(title)</b></nav>
      <main>
      \(content)
      </main>
      </body>
      </html>

      """
  }

  /// A message, with its line breaks. The marks below a text are right in a font whose letters have one width.
  static func fault(_ message: String) -> HTML {
    message.contains("\n") ? "<pre class=fault>\(message)</pre>\n" : "<p class=fault>\(message)</p>\n"
  }

  /// What a page that changes objects says about hooks.
  func hookNote(_ entity: Entity, in model: Model) -> HTML {
    let entities = entity.subtree.map { model.description.entities[$0] }
    let hooks = Set(entities.flatMap(\.hooks)).map(\.rawValue).sorted()
    let names = hooks.isEmpty ? "" : " The model says that \(entity.name) has some: \(hooks.joined(separator: ", "))."
    return "<p class=pale>The rules of the model apply. Hooks of the program do not run here.\(names)</p>\n"
  }

  static let style = """
    :root { color-scheme: light dark; --line: #d8dce2; --soft: #f4f5f7; --text: #1c2430; --pale: #65707f;
      --link: #1a5fb4; --fault: #b3261e; --back: #ffffff; }
    @media (prefers-color-scheme: dark) {
      :root { --line: #3a414b; --soft: #232930; --text: #e6e9ee; --pale: #9aa5b4; --link: #7db4ff;
        --fault: #ff8a80; --back: #171b20; }
    }
    * { box-sizing: border-box; }
    body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
    a { color: var(--link); text-decoration: none; }
    a:hover { text-decoration: underline; }
    header { display: flex; gap: 12px; align-items: baseline; padding: 10px 24px; border-bottom: 1px solid var(--line);
      background: var(--soft); }
    header .store { font-weight: 600; color: var(--text); }
    .mode, .pale { color: var(--pale); }
    .mode { font-size: 13px; }
    nav { padding: 14px 24px 0; }
    main { padding: 8px 24px 40px; max-width: 1400px; }
    h2 { font-size: 17px; margin: 24px 0 8px; }
    table { border-collapse: collapse; margin: 8px 0; max-width: 100%; }
    th, td { text-align: left; vertical-align: top; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line);
      overflow-wrap: break-word; }
    td.value { overflow-wrap: anywhere; }
    .cell { width: max-content; max-width: 24em; }
    th { font-weight: 600; font-size: 13px; white-space: nowrap; }
    td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
    td.name { color: var(--pale); white-space: nowrap; padding-right: 24px; }
    .scroll { overflow-x: auto; }
    pre { margin: 0; font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; max-height: 24em; overflow: auto; }
    img.data { max-width: min(100%, 560px); max-height: 420px; display: block; border: 1px solid var(--line); }
    img.diagram { max-width: 100%; }
    form.filter { display: flex; gap: 8px; flex-wrap: wrap; margin: 8px 0; }
    input[type=text], textarea, select { font: inherit; padding: 4px 8px; border: 1px solid var(--line);
      border-radius: 4px; background: var(--back); color: var(--text); width: 100%; max-width: 640px; }
    textarea { font: 13px/1.45 ui-monospace, monospace; }
    button, a.button { font: inherit; padding: 4px 14px; border: 1px solid var(--line); border-radius: 4px;
      background: var(--soft); color: var(--text); cursor: pointer; display: inline-block; }
    .fault { color: var(--fault); }
    pre.fault { max-height: none; }
    details { margin: 8px 0; color: var(--pale); }
    summary { cursor: pointer; }
    details label { display: inline-block; margin: 4px 14px 4px 0; color: var(--text); }
    @media (max-width: 600px) {
      header, nav { padding-left: 14px; padding-right: 14px; }
      main { padding: 8px 14px 32px; }
      table.object, table.object tbody, table.object tr, table.object td { display: block; }
      table.object tr { border-bottom: 1px solid var(--line); padding: 5px 0; }
      table.object td { border: 0; padding: 0; }
      table.object td.name { white-space: normal; font-size: 13px; }
    }
    .field { margin: 0 0 14px; max-width: 640px; }
    .field > label { display: block; font-weight: 600; }
    .actions { display: flex; gap: 8px; margin: 12px 0; }
    .actions label { align-self: center; }
    del { color: var(--pale); text-decoration-thickness: 1px; }
    ins { text-decoration: none; }
    .nothing { color: var(--pale); font-style: italic; }
    """
}
