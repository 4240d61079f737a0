import { existsSync } from "node:fs";
import { createFolder } from "../create-folder.js";
import type { Compacted } from "../journal/compact-journal.js";
import { lockFolder } from "../journal/folder-lock.js";
import { OperatorError } from "../operator-error.js";
import { wordsOf } from "../seed/mnemonic.js";
import { readPrivateFile } from "../seed/private-file.js";
import { openSeed, sealSeed, seedPath, writeSeed } from "../seed/sealed-seed.js";
import { createKeyFile, readSealingKeys } from "../seed/sealing-keys.js";
import { standardFeeLimits } from "../signing/fee-limits.js";
import type { AddressedWallet } from "../signing/find-key-numbers.js";
import { openFolder, type RunningSigner, startSigner } from "../start-signer.js";
import { type Arguments, readFeeLimits, readSocketMode } from "./arguments.js";
import { readWalletFile } from "./wallet-file.js";

type Values = Arguments["values"];

/** Writes a line for the person at the terminal. */
type Print = (line: string) => void;

export async function init(values: Values, print: Print): Promise<void> {
  const { folder, keys } = readPlace(values);
  const file = values["mnemonic-file"];
  const words = file === undefined ? undefined : readPrivateFile(file, "the mnemonic");
  const { lines } = await createFolder(folder, keys[0], words);
  print(
    words === undefined
      ? `${folder} has a new seed. Write its words down now: bursar-signer words --show --data ${folder} --key-file ${values["key-file"]}`
      : `${folder} has the seed of the mnemonic, and a journal of ${lines} ${lines === 1 ? "line" : "lines"}.`,
  );
}

/** Words on a screen can be written down; words in a file or a log are a leak. */
export function words(values: Values, print: Print, isTerminal: boolean): void {
  const { folder, keys } = readPlace(values);
  if (values.show !== true)
    throw new OperatorError("The words are shown with --show. Make sure that nobody is watching.");
  if (!isTerminal)
    throw new OperatorError("The words are shown on a terminal only, not written to a file or a pipe.");
  const all = wordsOf(openSeed(folder, keys).entropy).split(" ");
  for (const [index, word] of all.entries()) print(`${String(index + 1).padStart(2)}  ${word}`);
}

export async function check(values: Values, print: Print): Promise<void> {
  const { folder, keys } = readPlace(values);
  const { core, keyId, close } = await openFolder(folder, keys, standardFeeLimits, isFromBackup(values));
  const { wallets, signatures, indexBytes } = core.counts();
  print(
    `The journal is complete: ${wallets} wallets, ${signatures} signatures (${indexBytes} bytes of memory).`,
  );
  print(`The seed is sealed with the key ${keyId}.`);
  await close();
}

/** After a journal was lost: the service's database has the addresses, and the seed has their keys. */
export async function adopt(values: Values, print: Print): Promise<void> {
  const { folder, keys } = readPlace(values);
  const wallets = readWalletFile(required(values.wallets, "--wallets FILE"));
  const opened = await openFolder(folder, keys, standardFeeLimits, isFromBackup(values));
  const { core, journal, close } = opened;
  try {
    const adoption = core.adopt(wallets);
    if ("refused" in adoption) throw new OperatorError(explainRefused(adoption.refused));
    await journal.append(adoption.entries);
    print(`${adoption.entries.length} wallets were adopted, ${adoption.known} were known.`);
  } finally {
    await close();
  }
}

export async function compact(values: Values, print: Print): Promise<void> {
  const { folder, keys } = readPlace(values);
  const opened = await openFolder(folder, keys, standardFeeLimits, isFromBackup(values));
  print(describeCompacted(await opened.compact()));
}

export function describeCompacted({ archivePath, bytesBefore, bytes }: Compacted): string {
  return `The journal was compacted from ${bytesBefore} to ${bytes} bytes. All of its lines are in ${archivePath}.`;
}

export function reseal(values: Values, print: Print): void {
  const { folder, keys } = readPlace(values);
  const unlock = lockFolder(folder);
  try {
    const { entropy, createdAt } = openSeed(folder, keys);
    writeSeed(folder, sealSeed(entropy, keys[0], createdAt));
    print(`The seed is sealed with the key ${keys[0].id}.`);
  } finally {
    unlock();
  }
}

export async function serve(
  values: Values,
  onFatal: (error: unknown) => void,
): Promise<RunningSigner & { socketPath: string }> {
  const socketPath = required(values.socket, "--socket PATH");
  const settings = {
    socketPath,
    socketMode: readSocketMode(values["socket-mode"]),
    limits: readFeeLimits(values),
    acceptsBackup: isFromBackup(values),
  };
  if (values.create === true) createKeyFile(required(values["key-file"], "--key-file FILE"));
  const { folder, keys } = readPlace(values);
  if (values.create === true && !existsSync(seedPath(folder))) await createFolder(folder, keys[0]);
  return { ...(await startSigner({ ...settings, folder }, keys, onFatal)), socketPath };
}

function isFromBackup(values: Values): boolean {
  return values["journal-from-backup"] === true;
}

function explainRefused(refused: readonly AddressedWallet[]): string {
  const [first] = refused;
  return `Nothing was adopted: ${refused.length} wallets have addresses that this seed does not give them, such as ${first?.walletId} with ${first?.address}.`;
}

function readPlace(values: Values) {
  const folder = required(values.data, "--data FOLDER");
  const keys = readSealingKeys(required(values["key-file"], "--key-file FILE"));
  return { folder, keys };
}

function required(value: string | undefined, option: string): string {
  if (value === undefined || value === "")
    throw new OperatorError(`The option ${option} is missing; --help explains it.`);
  return value;
}
