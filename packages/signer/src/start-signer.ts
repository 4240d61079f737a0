import { type SocketMode, startSocketServer } from "./http/socket-server.js";
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
  readonly close: () => Promise<void>;
}

/** A folder that is in use by this process: the rules, with everything that was signed, and the journal behind them. */
export interface OpenedFolder extends OpenedJournal {
  readonly core: SigningCore;
  readonly keyId: string;
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
    const core = createSigningCore({ keys: walletKeys, limits, now: () => new Date() });
    const opened = await openJournal(folder, createJournalChain(entropy), core.replay, { acceptsBackup });
    const close = () => opened.journal.close().finally(unlock);
    return { ...opened, core, keyId, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

export async function startSigner(
  settings: SignerSettings,
  keys: readonly SealingKey[],
  onFatal: (error: unknown) => void,
): Promise<RunningSigner> {
  const { folder, socketPath, socketMode, limits, acceptsBackup } = settings;
  const { core, journal, keyId, tornBytes, close } = await openFolder(folder, keys, limits, acceptsBackup);
  try {
    const service = createSignerService({ core, journal, keyId });
    const server = await startSocketServer({ path: socketPath, mode: socketMode, service, onFatal });
    return { tornBytes, close: () => server.close().then(close) };
  } catch (error) {
    await close();
    throw error;
  }
}
