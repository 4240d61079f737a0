#!/usr/bin/env node
import { existsSync } from "node:fs";

const program = new URL("../dist/cli/program.js", import.meta.url);
if (!existsSync(program)) {
  console.error("bursar: not built yet; `npm run build` in the checkout builds it.");
  process.exit(1);
}
const { runCli } = await import(program.href);
process.exit(await runCli(process.argv.slice(2)));
