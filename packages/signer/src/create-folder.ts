import { existsSync, mkdirSync } from "node:fs";
import { createJournal, journalPath } from "./journal/journal.js";
import { createJournalChain } from "./journal/journal-chain.js";
import { readJournal } from "./journal/read-journal.js";
import { OperatorError } from "./operator-error.js";
import { entropyOfWords, newEntropy } from "./seed/mnemonic.js";
import { sealSeed, seedPath, writeSeed } from "./seed/sealed-seed.js";
import type { SealingKey } from "./seed/sealing-keys.js";

/**
 * Creates a data folder with a seed and a journal. A seed that exists is never replaced. With words, a journal that is there already
 * is kept if it was written with the same seed: that is how a backup is restored.
 */
export async function createFolder(
  folder: string,
  key: SealingKey,
  words?: string,
): Promise<{ lines: number }> {
  const entropy = words === undefined ? newEntropy() : entropyOfWords(words);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (existsSync(seedPath(folder))) refuseExisting(seedPath(folder));
  const chain = createJournalChain(entropy);
  const at = new Date().toISOString();
  // The seed comes last, so that a folder with a seed always has a journal.
  if (!existsSync(journalPath(folder))) await createJournal(folder, chain, at);
  else if (words === undefined) refuseExisting(journalPath(folder));
  else readJournal(journalPath(folder), chain, () => {});
  writeSeed(folder, sealSeed(entropy, key, at));
  return { lines: chain.lines() };
}

function refuseExisting(path: string): never {
  throw new OperatorError(`${path} exists already. Name a new folder with --data.`);
}
