import type { SentenceId } from "../contract/sentences.js";
import type { Reply } from "../http/reply.js";
import type { Delivery } from "../webhooks/receiver.js";
import type { Kit } from "./kit.js";

/** What a check creates on the target, which is announced before a run. */
type Write = "transaction" | "wallet" | "webhook endpoint" | "token" | "signing key";

export const profileNames = [
  "tenants",
  "idempotency",
  "standard-webhooks",
  "rfc9421",
  "oauth",
  "ratelimit",
  "orderbook",
  "stream",
  "bursar",
] as const;
export type ProfileName = (typeof profileNames)[number];

/** A row of the table. `contract` alone decides conformance; a profile is a bundle for what the contract leaves open. */
type Level =
  | { readonly level: "contract"; readonly sentence: SentenceId }
  | { readonly level: "declared"; readonly source: string }
  | { readonly level: "profile"; readonly profile: ProfileName; readonly source: string };

export type Check = Level & {
  readonly id: string;
  /** What a pass shows, as one sentence. */
  readonly shows: string;
  /** Checks that must have passed, because this one would only repeat their failure. They come before it in the table. */
  readonly needs: readonly string[];
  /** Checks whose failure this one would repeat, but which the target need not offer. */
  readonly unlessFailed?: readonly string[];
  readonly writes: readonly Write[];
  /** Waits so long that it runs only with `--slow`. */
  readonly slow?: boolean;
  /** Looks at what the others have seen, so it runs after all of them. */
  readonly atEnd?: boolean;
  readonly run: (kit: Kit) => Promise<void>;
};

/** What shows a failure: notifications, or a response. */
type Evidence = readonly Delivery[] | Reply;

/** What the target does and the contract does not allow. Thrown by a check, and caught by the engine alone. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
  readonly expected: string;
  readonly seen: string;
  /** The check that this is a failure of, if it is not the one that noticed it. */
  readonly belongsTo: string | undefined;
  /** The notifications that show it, if not all that arrived do, or the response that does. */
  readonly about: Evidence | undefined;
  constructor(expected: string, seen: string, belongsTo?: string, about?: Evidence) {
    super(`expected ${expected}, saw ${seen}`);
    this.expected = expected;
    this.seen = seen;
    this.belongsTo = belongsTo;
    this.about = about;
  }
}

/** A request was not answered. What is judged by other answers too can still be judged. */
export class NoResponse extends CheckFailed {
  /** Names the cause, if a closed connection is one: what closes one closes others too. */
  readonly closedBy: string | undefined;
  constructor(expected: string, seen: string, closedBy: string | undefined, belongsTo?: string) {
    super(expected, seen, belongsTo);
    this.closedBy = closedBy;
  }
}

/** For a request that is only one of several: what drops the connection has a check of its own. */
export function ignoreNoResponse(error: unknown): undefined {
  if (!(error instanceof NoResponse)) throw error;
}

/** The target does not have what the check is about, and need not have it. */
export class NotOffered extends Error {
  override readonly name = "NotOffered";
}

/** What the check would report is already the failure of another one. */
export class WaitsFor extends Error {
  override readonly name = "WaitsFor";
  readonly id: string;
  constructor(id: string) {
    super(`It waits for ${id} to pass.`);
    this.id = id;
  }
}

/** A bound of the run was reached before the check could finish. */
export class BoundReached extends Error {
  override readonly name = "BoundReached";
}

/** The target has done nothing wrong so far, and the kit cannot wait until it is sure. Neither a failure nor a pass. */
export class Undecided extends Error {
  override readonly name = "Undecided";
  /** The check that is not decided, if it is not the one that noticed it. */
  readonly belongsTo: string | undefined;
  constructor(message: string, belongsTo?: string) {
    super(message);
    this.belongsTo = belongsTo;
  }
}

/** `about` is what shows it. A response that `seen` quotes in full is found without it. */
export function fail(expected: string, seen: string, about?: Evidence): never {
  throw new CheckFailed(expected, seen, undefined, about);
}

export function expect(
  condition: boolean,
  expected: string,
  seen: string,
  about?: Evidence,
): asserts condition {
  if (!condition) fail(expected, seen, about);
}

/** A row of the level that decides conformance. */
export function contractCheck(
  id: string,
  sentence: SentenceId,
  shows: string,
  row: Partial<Pick<Check, "needs" | "unlessFailed" | "writes" | "slow" | "atEnd">>,
  run: (kit: Kit) => Promise<void>,
): Check {
  return { level: "contract", id, sentence, shows, needs: [], writes: [], ...row, run };
}

/** A row that holds the target to its own document. */
export function declaredCheck(
  id: string,
  source: string,
  shows: string,
  row: Partial<Pick<Check, "needs" | "unlessFailed" | "writes" | "slow">>,
  run: (kit: Kit) => Promise<void>,
): Check {
  return { level: "declared", id, source, shows, needs: [], writes: [], ...row, run };
}

export function profileCheck(
  id: string,
  profile: ProfileName,
  source: string,
  shows: string,
  row: Partial<Pick<Check, "needs" | "unlessFailed" | "writes" | "slow">>,
  run: (kit: Kit) => Promise<void>,
): Check {
  return { level: "profile", id, profile, source, shows, needs: [], writes: [], ...row, run };
}
