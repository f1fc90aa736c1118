#!/usr/bin/env python3
"""Checks the manifest for what users would notice: reads `swift package dump-package` on its standard input.

    swift package dump-package | python3 Tests/check_package.py
    swift package dump-package | python3 Tests/check_package.py --as-dependency

As a dependency, no target uses a plugin, or SwiftPM would build the generator for programs that do not use it. A target that depends
on `Trellis` depends on the modules that it exports, too: SwiftPM compiles a target again when a module has changed that it depends on
by name, and `Trellis` does not change with those modules.
"""

import json
import sys

UMBRELLA = "Trellis"

package = json.load(sys.stdin)
targets = {target["name"]: target for target in package["targets"]}


def dependencies(target):
    return {dependency["byName"][0] for dependency in target["dependencies"] if "byName" in dependency}


faults = []
exported = dependencies(targets[UMBRELLA])
for product in package["products"]:
    missing = exported - set(product["targets"])
    if UMBRELLA in product["targets"] and missing:
        faults.append(f"the product {product['name']} lacks {sorted(missing)}, which {UMBRELLA} exports")
for name, target in targets.items():
    missing = exported - dependencies(target)
    if UMBRELLA in dependencies(target) and missing:
        faults.append(f"the target {name} depends on {UMBRELLA}, but not on {sorted(missing)}, which it exports")
if "--as-dependency" in sys.argv[1:]:
    for name, target in targets.items():
        if target.get("pluginUsages"):
            faults.append(f"the target {name} uses a plugin")
sys.exit("\n".join(faults) if faults else 0)
