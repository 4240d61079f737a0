#!/usr/bin/env node
import { existsSync } from "node:fs";

const program = new URL("../dist/main.js", import.meta.url);
if (!existsSync(program)) {
  console.error("bursar-conformance: not built yet; `npm ci && npm run build` in the checkout builds it.");
  process.exit(3);
}
await import(program.href);
