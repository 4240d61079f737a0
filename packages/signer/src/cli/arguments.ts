import { parseArgs } from "node:util";
import type { SocketMode } from "../http/socket-server.js";
import { OperatorError } from "../operator-error.js";
import { type FeeLimit, type FeeLimits, standardFeeLimits } from "../signing/fee-limits.js";

export const usage = `Holds the keys of wallets on chains and signs their payments.

  bursar-signer [serve] --data FOLDER --key-file FILE --socket PATH [options]
  bursar-signer init    --data FOLDER --key-file FILE [--mnemonic-file FILE]
  bursar-signer words   --data FOLDER --key-file FILE --show
  bursar-signer check   --data FOLDER --key-file FILE
  bursar-signer adopt   --data FOLDER --key-file FILE --wallets FILE
  bursar-signer reseal  --data FOLDER --key-file FILE
  bursar-signer compact --data FOLDER --key-file FILE

serve signs what the service asks for, and prints a line when it is ready.
init creates the folder with a new seed, or with the one of a mnemonic. A journal that is
there already is kept if it belongs to the mnemonic.
words shows the mnemonic, on a terminal only.
check reads the journal and prints what it contains; nothing else may be using the folder.
adopt finds the keys of wallets that a lost journal had: --wallets has a line for each, with
the ids of the tenant and the wallet, the network and the address, separated by commas.
reseal seals the seed with the first key of the key file.
compact replaces the journal by a short one with the same effect, and keeps the old one as
journal-from-LINE.jsonl; serve does so at the start after 100,000 more lines.

  --data FOLDER            the folder with the sealed seed and the journal
  --key-file FILE          the key that seals the seed: 32 bytes in base64 or hexadecimal,
                           readable by this account only, and not the service's master key
  --socket PATH            the Unix socket to listen on
  --socket-mode MODE       0600 (default), or 0660 for the group of the socket's folder
  --max-fee-per-gas WEI    the highest fee per gas that is signed (default 1000000000000);
                           NETWORK=WEI, such as eip155:1=500000000000, is for one network
  --max-fee WEI            the highest fee of a transaction (default 100000000000000000);
                           NETWORK=WEI is for one network
  --journal-from-backup    accepts a journal with signatures without journal.head, which is
                           not part of a backup; it is written again (all but init, words, reseal)
  --create                 creates the key file and the folder if there is no seed yet
  --with-parent            stops when standard input ends
`;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const list = { type: "string", multiple: true } as const;
const options = {
  data: text,
  "key-file": text,
  socket: text,
  "socket-mode": text,
  "max-fee-per-gas": list,
  "max-fee": list,
  "mnemonic-file": text,
  wallets: text,
  show: flag,
  "journal-from-backup": flag,
  create: flag,
  "with-parent": flag,
  help: flag,
} as const;

const commands = ["serve", "init", "words", "check", "adopt", "reseal", "compact"] as const;
type CommandName = (typeof commands)[number];

export interface Arguments {
  readonly command: CommandName;
  readonly values: ReturnType<typeof parse>["values"];
}

export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args);
  const [command = "serve", ...others] = positionals;
  if (!isCommand(command) || others.length > 0)
    throw new OperatorError(`There is no command "${positionals.join(" ")}"; --help lists them.`);
  return { command, values };
}

export function readSocketMode(given: string | undefined): SocketMode {
  if (given === undefined || /^0?600$/.test(given)) return 0o600;
  if (/^0?660$/.test(given)) return 0o660;
  throw new OperatorError("--socket-mode must be 0600 or 0660.");
}

export function readFeeLimits(values: Arguments["values"]): FeeLimits {
  return {
    perGas: readLimit("--max-fee-per-gas", values["max-fee-per-gas"], standardFeeLimits.perGas.standard),
    perTransaction: readLimit("--max-fee", values["max-fee"], standardFeeLimits.perTransaction.standard),
  };
}

function readLimit(name: string, given: readonly string[] | undefined, byDefault: bigint): FeeLimit {
  const ofNetwork = new Map<string, bigint>();
  let standard = byDefault;
  for (const value of given ?? []) {
    const fields = /^(?:(eip155:[1-9][0-9]{0,15})=)?([1-9][0-9]{0,37})$/.exec(value);
    if (fields === null)
      throw new OperatorError(`${name} must be a number of wei, or such as eip155:1=500000000000.`);
    const wei = BigInt(fields[2] as string);
    if (fields[1] === undefined) standard = wei;
    else ofNetwork.set(fields[1], wei);
  }
  return { standard, ofNetwork };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw new OperatorError((cause as Error).message, { cause });
  }
}

function isCommand(name: string): name is CommandName {
  return (commands as readonly string[]).includes(name);
}
