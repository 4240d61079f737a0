import { type SocketMode, startSocketServer } from "./http/socket-server.js";
import {
  type Compacted,
  type Compaction,
  compactJournal,
  hasOtherArchive,
} from "./journal/compact-journal.js";
import { lockFolder } from "./journal/folder-lock.js";
import { type OpenedJournal, openJournal } from "./journal/journal.js";
import { createJournalChain } from "./journal/journal-chain.js";
import { createWalletKeys } from "./keys/wallet-keys.js";
import { seedOf } from "./seed/mnemonic.js";
import { openSeed } from "./seed/sealed-seed.js";
import type { SealingKey } from "./seed/sealing-keys.js";
import { createSignerService } from "./signer-service.js";
import type { FeeLimits } from "./signing/fee-limits.js";
import { createSigningCore, type SigningCore } from "./signing/signing-core.js";

export interface SignerSettings {
  readonly folder: string;
  readonly socketPath: string;
  readonly socketMode: SocketMode;
  readonly limits: FeeLimits;
  readonly acceptsBackup: boolean;
}

export interface RunningSigner {
  readonly tornBytes: number;
  /** What was compacted at the start. */
  readonly compacted: Compacted | undefined;
  readonly close: () => Promise<void>;
}

/** A folder that is in use by this process: the rules, with everything that was signed, and the journal behind them. */
export interface OpenedFolder extends OpenedJournal {
  readonly core: SigningCore;
  readonly keyId: string;
  /** Replaces the journal by one that sums it up, and closes the folder. */
  readonly compact: (onStep?: Compaction["onStep"]) => Promise<Compacted>;
  readonly close: () => Promise<void>;
}

export async function openFolder(
  folder: string,
  keys: readonly SealingKey[],
  limits: FeeLimits,
  /** Whether a journal with signatures may come without the file that says how far it was written. */
  acceptsBackup = false,
): Promise<OpenedFolder> {
  const { entropy, keyId } = openSeed(folder, keys);
  const unlock = lockFolder(folder);
  try {
    const walletKeys = createWalletKeys(seedOf(entropy));
    const newCore = () => createSigningCore({ keys: walletKeys, limits, now: () => new Date() });
    const newChain = () => createJournalChain(entropy);
    const core = newCore();
    const opened = await openJournal(folder, newChain(), core.replay, { acceptsBackup });
    const close = () => opened.journal.close().finally(unlock);
    const compact = (onStep?: Compaction["onStep"]) => {
      const at = new Date().toISOString();
      const position = opened.position();
      return compactJournal({ folder, core, position, newChain, newCore, at, onStep }).finally(close);
    };
    return { ...opened, core, keyId, compact, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** A journal with so many lines takes eight seconds to read and 66 MB. */
const compactAfterLines = 100_000;

function isLong(folder: string, { position }: OpenedFolder): boolean {
  const { lines, firstLine } = position();
  return lines - firstLine >= compactAfterLines && !hasOtherArchive(folder, firstLine);
}

export async function startSigner(
  settings: SignerSettings,
  keys: readonly SealingKey[],
  onFatal: (error: unknown) => void,
): Promise<RunningSigner> {
  const { folder, socketPath, socketMode, limits, acceptsBackup } = settings;
  const reopen = (isBackup: boolean) => openFolder(folder, keys, limits, isBackup);
  const first = await reopen(acceptsBackup);
  const { tornBytes } = first;
  const compacted = isLong(folder, first) ? await first.compact() : undefined;
  const { core, journal, keyId, close } = compacted === undefined ? first : await reopen(false);
  try {
    const service = createSignerService({ core, journal, keyId });
    const server = await startSocketServer({ path: socketPath, mode: socketMode, service, onFatal });
    return { tornBytes, compacted, close: () => server.close().then(close) };
  } catch (error) {
    await close();
    throw error;
  }
}
