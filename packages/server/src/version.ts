import { readFileSync } from "node:fs";

/** The version of the software, from the package itself. */
export const softwareVersion = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
