// npm run contracts -w packages/devnet: compiles the contracts of this folder. With --check it only compares, and ends with 1 if an
// artefact is not what the compiler makes of its source.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import solc from "solc";

const folder = import.meta.dirname;
const sources = readdirSync(folder).filter((name) => name.endsWith(".sol"));

const input = {
  language: "Solidity",
  sources: Object.fromEntries(
    sources.map((name) => [name, { content: readFileSync(join(folder, name), "utf8") }]),
  ),
  settings: {
    evmVersion: "prague",
    optimizer: { enabled: true, runs: 200 },
    // Without the hash of the source, so that a comment does not change the code.
    metadata: { appendCBOR: false, bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
  },
};

const output = JSON.parse(solc.compile(JSON.stringify(input)));
// Warnings are shown; that selfdestruct is deprecated is why the contract Bomb exists.
const faults = (output.errors ?? []).filter((fault) => fault.severity === "error");
for (const { formattedMessage } of faults) console.error(formattedMessage);
if (faults.length > 0) process.exit(1);

const isCheck = process.argv.includes("--check");
for (const source of sources) {
  const name = basename(source, ".sol");
  const { abi, evm } = output.contracts[source][name];
  const path = join(folder, `${name}.json`);
  const artefact = `${JSON.stringify({ compiler: solc.version(), abi, bytecode: `0x${evm.bytecode.object}` }, null, 2)}\n`;
  if (!isCheck) writeFileSync(path, artefact);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== artefact) {
    console.error(
      `${name}.json is not what the compiler makes of ${source}: run npm run contracts -w packages/devnet`,
    );
    process.exitCode = 1;
  }
}
