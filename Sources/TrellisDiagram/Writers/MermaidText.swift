enum MermaidText { static func text(_ d: Diagram) -> String { "" } }
