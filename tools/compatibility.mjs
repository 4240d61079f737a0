// Says what in openapi.json would break clients of a released version; nothing may. The documents of the releases are in docs/api.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findBreakingChanges } from "./breaking-changes.mjs";
import { listFiles, root } from "./files.mjs";

const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const present = read("openapi.json");
const released = listFiles("docs/api/openapi-*.json");
const changes = released.flatMap((path) =>
  findBreakingChanges(read(path), present).map((change) => `${path}: ${change}`),
);
for (const change of changes) console.error(change);
if (released.length === 0) console.error("docs/api has no released document to compare with");
process.exit(changes.length === 0 && released.length > 0 ? 0 : 1);
