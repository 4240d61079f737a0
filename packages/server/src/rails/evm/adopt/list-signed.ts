import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { ChainUnit, WalletKey } from "../../../app/chain/chain-store.js";
import type { SignedNonce } from "../../../app/chain/signer.js";
import type { ComparedWallet } from "../../../app/chain/wallet-books.js";
import { askSigner } from "../confirm/ask-signer.js";
import { isUsedElsewhere } from "../driver/comparison/compare-books.js";
import { type DriverContext, type FollowedChain, inUnit, positionOf } from "../driver/driver-context.js";

/** How many nonces are compared with the database at once. */
const comparedMax = 256;

/** All of it, also what is bound to nonces that are not used yet: a payment that has another nonce here may be made with such a one. */
export async function listSigned(
  context: DriverContext,
  chain: FollowedChain,
  wallet: ComparedWallet,
  below: number,
): Promise<readonly SignedNonce[]> {
  const [book] = await inUnit(context, positionOf(chain), (unit) => unit.readBooks([wallet]));
  if (book === undefined || !isUsedElsewhere(book, { nonce: below })) return [];
  // A payment above it may have ended, and what the signer has bound to the open nonce is not decided yet.
  const finalNonce = Math.min(book.finalNonce, book.lowestOpen ?? book.finalNonce);
  const asked = { ...wallet, finalNonce, usedBelow: below };
  const signed: SignedNonce[] = [];
  const { refused } = await askSigner(context, [asked], async (nonces) => {
    signed.push(...nonces);
    return new Set();
  }).catch((error: unknown) => {
    throw new NodeUnavailableError(
      "the signer, which is asked before a wallet is adopted, has not answered",
      {
        cause: error,
      },
    );
  });
  const reason = refused.get(wallet.walletId);
  if (reason !== undefined)
    throw new NodeUnavailableError(
      `the signer, which is asked before a wallet is adopted, says nothing about ${wallet.address}: ${reason}`,
    );
  return signed;
}

/** Whether the database does not know one of them, not even from a refusal. If the lowest open nonce is far below, hundreds of them can be known. */
export async function hasUnknown(
  unit: Pick<ChainUnit, "listUnknownNonces">,
  { tenantId, walletId }: WalletKey,
  signed: readonly SignedNonce[],
): Promise<boolean> {
  for (let start = 0; start < signed.length; start += comparedMax) {
    const some = signed.slice(start, start + comparedMax);
    const unknown = await unit.listUnknownNonces(some.map((one) => ({ ...one, tenantId, walletId })));
    if (unknown.some(({ isNoted }) => !isNoted)) return true;
  }
  return false;
}
