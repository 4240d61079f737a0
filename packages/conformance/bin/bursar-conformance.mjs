#!/usr/bin/env node
import { existsSync } from "node:fs";

const program = new URL("../dist/main.js", import.meta.url);
if (!existsSync(program)) {
  console.error(
    "bursar-conformance: not built yet. If `npm start` is still installing or building, wait for it; otherwise run `npm run build` in the checkout.",
  );
  process.exit(3);
}
await import(program.href);
