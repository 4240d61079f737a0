// `npm start`: installs and builds what is missing, and then runs the sandbox in the same process, because a second one would take a
// tenth of a second of CPU to begin.
import { fileURLToPath } from "node:url";
import "./prepare.mjs";

console.log("bursar: starting the sandbox");
const program = new URL("../packages/server/bin/bursar.mjs", import.meta.url);
process.argv.splice(1, process.argv.length, fileURLToPath(program), "dev");
await import(program.href);
