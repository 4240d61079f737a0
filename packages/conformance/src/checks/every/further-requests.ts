import { BoundReached, CheckFailed, NoResponse, Undecided } from "../../engine/check.js";
import { type Attempt, type Kit, membersOf } from "../../engine/kit.js";
import { percentEncode } from "../../http/percent-encode.js";
import type { Reply } from "../../http/reply.js";
import { unissued } from "../access-checks.js";
import { createWallet } from "../endpoint-checks.js";
import { reusedKey } from "../keys/key-scenarios.js";
import { findId, isAccepted, sharedTransaction, showTransaction } from "../scenarios.js";

const longReference = 65_536;
const longToken = 200;
/** As long as references may be at many services. */
const usualMax = 128;

/** Members that can be understood in more than one way, if they are accepted. */
const openMembers: readonly ((reference: string) => Record<string, unknown>)[] = [
  // Left out when it is serialised.
  () => ({ amount: undefined }),
  () => ({ asset: null }),
  (reference) => ({ reference: `${reference}\u0000` }),
  (reference) => ({ reference: `${reference}\ud800` }),
];

/** Members that programs often do not expect. Whether they are refused is open, so each could become a transaction. */
const oddMembers: typeof openMembers = [
  () => ({ asset: "CONFORMANCE" }),
  // What serialisers escape in different ways, and what is longer than usual: signatures over something else than the bytes are noticed.
  (reference) => ({ reference: `${reference}<b>&amp;'/"` }),
  (reference) => ({ reference: `${reference}😀` }),
  (reference) => ({ reference: reference.padEnd(usualMax, "x") }),
];

interface FurtherReplies {
  /** Why some were not sent; undefined if all were. */
  readonly left: string | undefined;
  /** Of the first connection that was closed instead of a response, although nothing but the program can have closed it. */
  readonly closed: NoResponse | undefined;
  /** Why something that was accepted cannot be read; undefined if all can. */
  readonly lost: CheckFailed | Undecided | undefined;
  /** To a path that is no URI. */
  readonly malformed: Reply | undefined;
}

/**
 * Requests that no other check sends, and that a target may refuse: only the form of their errors is looked at. Those for which there is no
 * time are left out, because a run can be judged by what it has seen.
 */
export const furtherRequests = (kit: Kit): Promise<FurtherReplies> =>
  kit.fixture("further refusals", async (own) => {
    let left: string | undefined;
    let closed: NoResponse | undefined;
    let lost: CheckFailed | Undecided | undefined;
    const attempt = async <T>(send: () => Promise<T>, mayBeClosed = false): Promise<T | undefined> => {
      try {
        return await send();
      } catch (error) {
        if (error instanceof BoundReached || error instanceof Undecided) left = error.message;
        else if (!(error instanceof NoResponse)) throw error;
        else if (error.closedBy !== undefined && !mayBeClosed) closed ??= error;
        return undefined;
      }
    };
    const create = (change: (typeof oddMembers)[number], isProbe = false) => {
      const reference = own.newName();
      // The body is given as a whole, so that what is paid is counted as the usual asset and amount.
      const body = JSON.stringify({ ...membersOf(own, reference), ...change(reference) });
      return own.create({ body, isProbe });
    };
    for (const path of ["/v1/transactions", "/v1/wallets", `/v1/transactions/${own.newName()}`])
      await attempt(() => own.send("PATCH", path), true);
    await attempt(() => createWallet(own, { authorization: null }), true);
    await reusedKey(own).catch(() => undefined);
    const id = await sharedTransaction(own).then((one) => one.id, own.newName);
    const path = `/v1/transactions/${percentEncode(id)}`;
    await attempt(() => own.send("GET", path, { authorization: null }), true);
    await attempt(() => own.send("GET", path, { authorization: unissued.padEnd(longToken, "x") }));
    await attempt(() => own.send("GET", "/v1/transactions/%ff"));
    // What programs send that do not say what they want.
    await attempt(() => own.create({ key: null, accept: "*/*" }), true);
    await attempt(() => own.send("GET", `/v1/transactions/${own.newName()}`, { accept: "*/*" }), true);
    const created: (Attempt | undefined)[] = [];
    for (const change of openMembers) created.push(await attempt(() => create(change, true)));
    for (const change of oddMembers) created.push(await attempt(() => create(change)));
    // A server need not read a long body before it refuses it.
    const isLong = (reference: string) => ({ reference: reference.padEnd(longReference, "x") });
    created.push(await attempt(() => create(isLong), true));
    const malformed = await attempt(() => own.send("GET", "/v1/transactions/%zz"), true);
    // What is accepted can be read, however odd it is.
    for (const { reply } of created.filter((one) => one !== undefined)) {
      const found = isAccepted(own.target, reply) ? findId(own.target, reply) : undefined;
      if (found === undefined) continue;
      await attempt(() =>
        showTransaction(own, found.id).catch((error: unknown) => {
          const isLost = error instanceof CheckFailed || error instanceof Undecided;
          if (!isLost || error instanceof NoResponse) throw error;
          lost ??= error;
        }),
      );
    }
    return { left, closed, lost, malformed };
  });
