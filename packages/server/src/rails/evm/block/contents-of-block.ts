import type { ChainNetwork } from "../../../app/chain/chain-network.js";
import type { ChainBlock, ObservedTransfer } from "../../../app/chain/chain-node.js";
import type { FoundAttempt, Inclusion, WalletKey } from "../../../app/chain/chain-store.js";
import { PaymentFaultError } from "../../../app/rails/record-rail-events.js";
import { contractOf } from "../driver/driver-context.js";
import { isPaidExactly } from "../transaction/paid-exactly.js";

/** What a wallet has received in a block: one transfer, or the sum of several, with the hash and the ordinal of the last of them. */
export interface BlockDeposit extends ObservedTransfer {
  wallet: WalletKey;
  /** It becomes no transaction of its own, but is gathered. */
  isGathered: boolean;
}

/** How many transfers of a block become transactions: of one asset to one wallet, and of all. */
const ownOfWalletMax = 100;
const ownOfBlockMax = 1000;
/** No balance of a token is larger. One that states more in its logs than it has would overflow the column, and no block could follow. */
const amountMax = 2n ** 256n - 1n;

/**
 * What wallets have received in a block. Anybody can send them thousands of small transfers for little gas, in one transaction: 4,000 of them
 * took 3.3 s of CPU, and every payment on the network waited. So what is below the minimum of its asset, and what is above these bounds, is one
 * sum for each wallet and asset. The largest transfers come first, and every wallet has its first one before another has its second.
 */
export function depositsOfBlock(
  network: ChainNetwork,
  block: ChainBlock,
  attempts: readonly FoundAttempt[],
  wallets: ReadonlyMap<string, WalletKey>,
): BlockDeposit[] {
  const groups = new Map<string, BlockDeposit[]>();
  for (const transfer of receivedOf(network, block, attempts, wallets)) {
    const wallet = wallets.get(transfer.to);
    if (wallet === undefined) continue;
    const name = `${transfer.to} ${transfer.asset}`;
    const group = groups.get(name) ?? [];
    groups.set(name, group);
    group.push({ ...transfer, wallet, isGathered: false });
  }
  const own = chooseOwn(network, [...groups.values()]);
  return [...groups.values()].flatMap((group) => sumOthers(group, own));
}

/** The order of the block stays. */
function sumOthers(group: readonly BlockDeposit[], own: ReadonlySet<BlockDeposit>): BlockDeposit[] {
  const others = group.filter((one) => !own.has(one));
  const last = others.at(-1);
  const sum = others.reduce((total, one) => total + one.amount, 0n);
  const amount = sum < amountMax ? sum : amountMax;
  return group.flatMap((one) => {
    if (own.has(one)) return [one];
    return one === last ? [{ ...one, amount, isGathered: true }] : [];
  });
}

function chooseOwn(
  { depositMinimum }: ChainNetwork,
  groups: readonly (readonly BlockDeposit[])[],
): ReadonlySet<BlockDeposit> {
  const ranked = groups.flatMap((group) =>
    group
      .filter(({ asset, amount }) => amount >= (depositMinimum.get(asset) ?? 0n))
      .toSorted((one, other) => (one.amount > other.amount ? -1 : one.amount < other.amount ? 1 : 0))
      .slice(0, ownOfWalletMax)
      .map((deposit, rank) => ({ deposit, rank })),
  );
  const chosen = ranked.toSorted((one, other) => one.rank - other.rank).slice(0, ownOfBlockMax);
  return new Set(chosen.map(({ deposit }) => deposit));
}

/**
 * The transfers that are deposits, and not what a payment between two wallets of one tenant pays: that is credited when the payment completes.
 * It can have ended before, if a reorganisation below finality brings it back.
 */
function receivedOf(
  network: ChainNetwork,
  block: ChainBlock,
  attempts: readonly FoundAttempt[],
  wallets: ReadonlyMap<string, WalletKey>,
): ObservedTransfer[] {
  const succeeded = new Set(
    inclusionsOf(network, block, attempts)
      .filter((one) => one.succeeded)
      .map(({ hash }) => hash),
  );
  const own = new Map(attempts.filter(({ hash }) => succeeded.has(hash)).map((one) => [one.hash, one]));
  return block.transfers.filter((transfer) => {
    const payment = own.get(transfer.hash);
    const isOwn = payment !== undefined && isPaidBy(transfer, payment, wallets.get(transfer.to));
    return transfer.amount > 0n && !isOwn;
  });
}

function isPaidBy(
  { asset, from, amount }: ObservedTransfer,
  payment: FoundAttempt,
  wallet: WalletKey | undefined,
): boolean {
  return (
    payment.tenantId === wallet?.tenantId &&
    payment.destinationAccountId === wallet.walletId &&
    payment.asset === asset &&
    payment.address === from &&
    payment.amount === amount
  );
}

/** What a block did to these attempts. */
export function inclusionsOf(
  network: ChainNetwork,
  block: Pick<ChainBlock, "number" | "hash" | "outcomes">,
  attempts: readonly FoundAttempt[],
): Inclusion[] {
  return attempts.flatMap((attempt) => {
    const outcome = block.outcomes.find(({ hash }) => hash === attempt.hash);
    if (outcome === undefined) return [];
    const { tenantId, id, hash, purpose } = attempt;
    if (outcome.unreadable !== undefined)
      throw new PaymentFaultError(
        `the payment ${id} is in block ${block.number}, and its receipt cannot be read: ${outcome.unreadable}`,
      );
    if (purpose !== "cancellation" && attempt.destination === "")
      throw new PaymentFaultError(`the payment ${id} goes to a wallet without an address`);
    const at = { number: block.number, hash: block.hash };
    const succeeded =
      purpose === "cancellation"
        ? outcome.success
        : isPaidExactly(outcome, {
            ...{ asset: attempt.asset, contract: contractOf(network, attempt.asset) },
            ...{ from: attempt.address, to: attempt.destination, amount: attempt.amount },
          });
    return [{ tenantId, id, hash, block: at, succeeded, fee: outcome.fee }];
  });
}
