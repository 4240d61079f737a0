#!/usr/bin/env node
// The syntax of this file is one that old versions of Node can read.
import { existsSync } from "node:fs";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`bursar: Bursar needs Node 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
const program = new URL("../dist/main.js", import.meta.url);
if (!existsSync(program)) {
  console.error(
    "bursar: not built yet. If `npm start` is still installing or building, wait for it; otherwise run `npm run build` in the checkout.",
  );
  process.exit(1);
}
const { start } = await import(program.href);
const next = await start(process.argv.slice(2));
// The commands of the operator run in this process, so that signals, the terminal and the exit code are theirs.
if (next !== undefined) await import(next);
