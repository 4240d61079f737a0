import type { DevnetSettings } from "./start-devnet.js";

export const usage = `Runs a development chain and prints its URL.

  node packages/devnet/dist/main.js [options]

  --port N            the port on 127.0.0.1; 0 lets the system choose one (default 8545)
  --data FOLDER       where the chain is kept; without it the chain ends with the process
  --chain-id N        the chain id of a new chain (default 31337)
  --kind l1|op        op charges a data fee, as chains of the OP stack do (default l1)
  --block-time-ms N   the time between blocks (default 1000)
  --manual            mines only when devnet_mine is called
  --safe-depth N      how many blocks \`safe\` is behind the head (default 4)
  --final-depth N     how many blocks \`finalized\` is behind the head (default 8)
  --with-parent       stops when standard input ends
`;

export type GivenSettings = Readonly<Record<string, string | boolean | undefined>>;

/** The settings, or the sentence that says what is wrong with them. */
export function readSettings(given: GivenSettings): DevnetSettings | string {
  const faults: string[] = [];
  const number = (name: string, byDefault: number, min: number, max: number) => {
    const text = given[name];
    const value = text === undefined ? byDefault : Number(text);
    if (Number.isInteger(value) && value >= min && value <= max && text !== "") return value;
    faults.push(`--${name} must be a whole number from ${min} to ${max}.`);
    return byDefault;
  };
  const kind = given["kind"] ?? "l1";
  if (kind !== "l1" && kind !== "op") return "--kind must be l1 or op.";
  const settings: DevnetSettings = {
    port: number("port", 8545, 0, 65_535),
    folder: given["data"] === undefined ? undefined : String(given["data"]),
    identity: { chainId: number("chain-id", 31_337, 1, 2 ** 48), kind },
    mining:
      given["manual"] === true
        ? { mode: "manual" }
        : { mode: "interval", blockTimeMs: number("block-time-ms", 1000, 10, 3_600_000) },
    finality: { safeDepth: number("safe-depth", 4, 0, 1000), finalDepth: number("final-depth", 8, 0, 1000) },
  };
  if (settings.finality.safeDepth > settings.finality.finalDepth)
    faults.push("--safe-depth must not be larger than --final-depth.");
  return faults[0] ?? settings;
}
