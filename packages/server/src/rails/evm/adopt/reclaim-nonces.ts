import type { ChainUnit, WalletKey } from "../../../app/chain/chain-store.js";
import { findUnsignable } from "../../../app/chain/nonce-use.js";
import type { SignedNonce, SignerRefusal } from "../../../app/chain/signer.js";
import { askSigner } from "../confirm/ask-signer.js";
import { doubtInUnit } from "../confirm/doubt-wallets.js";
import {
  type DriverContext,
  type FollowedChain,
  haltInUnit,
  inUnit,
  positionOf,
} from "../driver/driver-context.js";

/**
 * Takes back the nonces of payments that the signer will never sign with them, because it has bound the nonce to another payment, or the payment to
 * another nonce. Nothing was signed for them with these nonces, so that they are as they were before they got one. What was to be stopped stays so.
 */
export async function reclaimNonces(
  context: DriverContext,
  unit: Pick<ChainUnit, "doubtWallets" | "listUnsignedNonces" | "reclaimNonces" | "requestCancel">,
  wallet: WalletKey,
  signed: readonly SignedNonce[],
): Promise<number> {
  if (signed.length === 0) return 0;
  const unsignable = findUnsignable(await unit.listUnsignedNonces(wallet), signed);
  for (const payment of unsignable.filter(({ isStopped }) => isStopped))
    await unit.requestCancel(payment, null);
  if (unsignable.length > 0) await doubtInUnit(context, unit, [wallet]);
  unit.reclaimNonces(wallet, unsignable);
  return unsignable.length;
}

/**
 * The signer knows more than the database. Its list may not come, and the wallet is halted all the same. What the refusal itself says can be below
 * all that is listed: a payment can have been signed with a nonce that is final.
 */
export async function haltRefused(
  context: DriverContext,
  chain: FollowedChain,
  wallet: WalletKey,
  { reason, signed: instead }: Pick<SignerRefusal, "reason" | "signed">,
): Promise<void> {
  const listed = await listOpen(context, chain, wallet).catch(() => []);
  const signed = instead === undefined ? listed : [...listed, instead];
  await inUnit(context, positionOf(chain), async (unit) => {
    await unit.lockSenders([wallet]);
    const count = await reclaimNonces(context, unit, wallet, signed);
    const advice =
      count === 0
        ? ""
        : " The database was restored from a backup. Nonces that the signer has bound otherwise were taken back, and all wallets are compared with the signer before any of their payments ends. Run `bursar recover`, if nobody has since the restore: events and tokens of the lost commits need it. Then resume the wallet with `bursar wallet resume`, and what it has signed gets its nonces first.";
    const halt = { wallet, code: "SIGNER_REFUSED", reason: `${reason}${advice}`, statedNonce: null } as const;
    await haltInUnit(context, unit, halt);
  });
}

async function listOpen(
  context: DriverContext,
  chain: FollowedChain,
  wallet: WalletKey,
): Promise<readonly SignedNonce[]> {
  const [book] = await inUnit(context, positionOf(chain), (unit) => unit.readBooks([wallet]));
  if (book === undefined) return [];
  const signed: SignedNonce[] = [];
  const asked = { ...wallet, finalNonce: Math.min(book.finalNonce, book.lowestOpen ?? book.finalNonce) };
  await askSigner(context, [asked], async (nonces) => {
    signed.push(...nonces);
    return new Set(signed.length < listedMax ? [] : [wallet.walletId]);
  });
  return signed;
}

/** What is in flight is far less. What is not listed is not taken back. */
const listedMax = 4096;
