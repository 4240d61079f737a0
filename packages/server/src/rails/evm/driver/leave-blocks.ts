import type { ChainUnit, FollowedBlock } from "../../../app/chain/chain-store.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import {
  type DriverContext,
  type FollowedChain,
  inUnit,
  positionOf,
  type RecordInUnit,
  tipOf,
} from "./driver-context.js";

/** How many blocks leave in one SQL transaction, the newest first. */
const blocksMax = 8;

/** The blocks above this number have left the chain. What was in them is where it was before: sent, and in no block. */
export async function leaveBlocks(
  context: DriverContext,
  chain: FollowedChain,
  above: number,
): Promise<void> {
  while (tipOf(chain).number > above) {
    const kept = Math.max(above, tipOf(chain).number - blocksMax);
    await inUnit(context, positionOf(chain), async (unit, record) => {
      await exclude(unit, record, kept, chain);
      unit.removeBlocks(kept);
    });
    chain.tail = chain.tail.filter(({ number }) => number <= kept);
  }
}

/** Begins again at the settled block, as the chain has it now: after the operator has resumed a network that was halted. */
export async function anchorChain(
  context: DriverContext,
  chain: FollowedChain,
  settled: FollowedBlock,
): Promise<void> {
  const { number, hash, parentHash } = settled;
  await inUnit(context, positionOf(chain), async (unit, record) => {
    await exclude(unit, record, number, chain);
    unit.removeBlocks(-1);
    unit.appendBlocks([{ number, hash, parentHash }]);
  });
  chain.tail = [{ number, hash, parentHash }];
}

async function exclude(
  unit: ChainUnit,
  record: RecordInUnit,
  above: number,
  { headNumber, tail }: FollowedChain,
): Promise<void> {
  const payments = await unit.listIncluded({ above });
  const deposits = await unit.listSeen({ above });
  const events: RailEvent[] = [];
  const reorganise = { kind: "reorganise" } as const;
  // A cancellation in a block is no event: the payment is still sent, until the cancellation is final.
  for (const { tenantId, id, purpose } of payments)
    if (purpose !== "cancellation") events.push({ tenantId, id, event: reorganise });
  for (const { tenantId, transactionId } of deposits)
    if (transactionId !== null) events.push({ tenantId, id: transactionId, event: reorganise });
  if (events.length > 0) await record({ events });
  const leftNumber = tail.at(-1)?.number ?? headNumber;
  unit.excludePayments(payments, headNumber);
  unit.putDeposits(deposits.map((deposit) => ({ ...deposit, block: null, leftNumber })));
}
