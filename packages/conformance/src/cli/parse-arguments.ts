import { parseArgs } from "node:util";
import { type Decimal, parseDecimal } from "../engine/decimal.js";
import { UsageFault } from "../target/read-values.js";

const options = {
  "base-url": { type: "string" },
  token: { type: "string" },
  "client-id": { type: "string" },
  target: { type: "string" },
  profile: { type: "string", multiple: true },
  "webhook-url": { type: "string" },
  "webhook-listen": { type: "string" },
  "allow-writes": { type: "boolean" },
  "max-total": { type: "string", multiple: true },
  slow: { type: "boolean" },
  list: { type: "boolean" },
  only: { type: "string", multiple: true },
  skip: { type: "string", multiple: true },
  seed: { type: "string" },
  baseline: { type: "string" },
  json: { type: "string" },
  junit: { type: "string" },
  html: { type: "string" },
  har: { type: "string" },
  help: { type: "boolean" },
  version: { type: "boolean" },
} as const;

export const helpText = `Usage: bursar-conformance --base-url URL [--token T | --client-id ID] [options]
       bursar-conformance compare A.json B.json
       bursar-conformance init FILE

Checks whether a transaction service keeps the contract, over HTTP alone.

Target
  --base-url URL          the address; paths are appended to it
  --token T               an access token; better in the variable CONFORMANCE_TOKEN
  --client-id ID          OAuth client credentials; the secret is in CONFORMANCE_CLIENT_SECRET
  --target FILE           a YAML file that says what cannot be discovered; init writes one
  --profile NAME          also runs this profile and demands it (repeatable)
  --webhook-listen H:P    where the receiver listens, by default 127.0.0.1 and any port
  --webhook-url URL       the address at which the target reaches the receiver

Safety: it creates transactions and wallets
  --allow-writes          required unless the target is on this machine
  --max-total ASSET=N     the most that is sent of an asset (repeatable); also required then

Which checks
  --list                  lists the checks and ends
  --only ID, --skip ID    by id or by the beginning of one, such as webhook (repeatable)
  --slow                  includes checks that wait long
  --seed N                runs independent checks in another order
  --baseline FILE         an earlier --json report; its failures are known and do not count

Reports
  --json FILE  --junit FILE  --html FILE  --har FILE

Exit status: 0 conforms and keeps each profile of --profile, 1 does not or is not
decided, 2 wrong usage or unreachable, 3 the kit is broken.
`;

export interface Arguments {
  readonly command: "run" | "compare" | "init";
  readonly files: readonly string[];
  readonly values: ReturnType<typeof parseOptions>["values"];
  readonly maxTotals: ReadonlyMap<string, Decimal>;
  readonly seed: number | undefined;
  readonly listen: { readonly host: string; readonly port: number };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseOptions(args);
  const [first, ...files] = positionals;
  const command = first === "compare" || first === "init" ? first : "run";
  if (command === "run" && first !== undefined && first !== "run")
    throw new UsageFault(`${first} is not a command. Commands: run (the default), compare, init.`);
  const wanted = { run: 0, compare: 2, init: 1 }[command];
  if (files.length !== wanted) throw new UsageFault(`${command} takes ${wanted} file names.`);
  return {
    command,
    files,
    values,
    maxTotals: new Map((values["max-total"] ?? []).map(readTotal)),
    seed: readSeed(values.seed),
    listen: readListen(values["webhook-listen"]),
  };
}

function readTotal(text: string): [string, Decimal] {
  const match = /^([^=]+)=(.+)$/.exec(text);
  const amount = parseDecimal(match?.[2] ?? "");
  if (match?.[1] === undefined || amount === undefined)
    throw new UsageFault(`--max-total ${text} must be ASSET=AMOUNT, such as USD=10.`);
  return [match[1], amount];
}

function readSeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new UsageFault("--seed must be a whole number of at most nine digits.");
  return Number(text);
}

function readListen(text = "127.0.0.1:0"): { host: string; port: number } {
  const match = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text);
  if (match?.[1] === undefined) throw new UsageFault(`--webhook-listen ${text} must be HOST:PORT.`);
  return { host: match[1], port: Number(match[2]) };
}
