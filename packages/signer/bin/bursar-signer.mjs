#!/usr/bin/env node
import { existsSync } from "node:fs";

const program = new URL("../dist/main.js", import.meta.url);
if (!existsSync(program)) {
  console.error("bursar-signer: not built yet; `npm ci && npm run build` in the checkout builds it.");
  process.exit(1);
}
await import(program.href);
