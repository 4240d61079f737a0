// node tools/generated-client/generate-types.mjs <file>: writes the types of openapi.json for openapi-fetch, as a user of the API would.
import { writeFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../files.mjs";

// openapi-typescript needs the interface of TypeScript 5, which TypeScript 7 no longer has.
register(new URL("use-typescript-5.mjs", import.meta.url));
const { astToString, default: generate } = await import("openapi-typescript");
const [file = ""] = process.argv.slice(2);
writeFileSync(file, astToString(await generate(pathToFileURL(join(root, "openapi.json")))));
