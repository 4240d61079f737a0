import { contractCheck, expect, fail, NotOffered } from "../engine/check.js";
import type { Kit, SendOptions } from "../engine/kit.js";
import { isServerFailure } from "../http/find-gateway.js";
import { percentEncode } from "../http/percent-encode.js";
import {
  describeReply,
  errorOf,
  findUnreadableJson,
  isObject,
  isRefusal,
  mediaTypeOf,
  type Reply,
  valueAt,
} from "../http/reply.js";
import { withFittingKey } from "./fitting-request.js";
import { expectRefused, isAccepted, sharedTransaction, showTransaction } from "./scenarios.js";
import { refuseFinal } from "./transaction-checks.js";
import { finalStatesIn, hasState } from "./transaction-state.js";

const walletAdmitted = "wallet.create.admitted";
const walletCreate = "wallet.create.accepted";
const walletForm = "wallet.create.form";
/** A service that does not insist on the prefix rarely does so at one path alone: the others wait for this check. */
const unprefixed = "prefix.transactions";
const writesWallet = ["wallet"] as const;

/** Fills `{run}` into the body of the target file, and a name that no other request of the run has. */
function walletBody(kit: Kit): string {
  const text = JSON.stringify(kit.target.wallet.body);
  return text.replaceAll("{run}", kit.newName().replace(/^conformance-?/, ""));
}

export function createWallet(
  kit: Kit,
  options: SendOptions & { contentType?: string; key?: string } = {},
): Promise<Reply> {
  return kit.send("POST", "/v1/wallets", {
    ...options,
    headers: [
      ["Content-Type", options.contentType ?? "application/json"],
      ["Idempotency-Key", options.key ?? kit.newKey()],
    ],
    body: options.body ?? walletBody(kit),
  });
}

export const acceptedWallet = (kit: Kit) =>
  kit.fixture("wallet", (own) =>
    withFittingKey(
      own,
      (key) => createWallet(own, { key }),
      (reply) => reply,
    ),
  );

/** The name under which a 202 of a wallet has its state, if the target file says it. */
const namesOfState = ({ target }: Kit) => target.wallet.state?.split(".").slice(-1) ?? [];

/** The prefix, wallets and the order book. */
export const endpointChecks = [
  contractCheck(
    walletAdmitted,
    "1.wallets",
    "A request to create a wallet is not refused.",
    { writes: writesWallet },
    async (kit) => {
      const reply = await acceptedWallet(kit);
      expect(
        !isRefusal(reply),
        "the request for a wallet to be accepted (wallet.body of the target file is its body)",
        describeReply(reply),
      );
    },
  ),
  contractCheck(
    walletCreate,
    "4.post-wallets",
    "A request to create a wallet is answered with 202.",
    { needs: [walletAdmitted], writes: writesWallet },
    async (kit) => {
      const reply = await acceptedWallet(kit);
      expect(reply.status === 202, "status 202", describeReply(reply));
    },
  ),
  contractCheck(
    "wallet.create.not-final",
    "1.async",
    "The 202 of a wallet does not contain a final outcome.",
    { needs: [walletCreate], writes: writesWallet },
    async (kit) => {
      const { state, finalStates } = kit.target.wallet;
      if (finalStates.length === 0)
        throw new NotOffered(
          "The target file does not say which states of a wallet are final (wallet.final_states).",
        );
      const { json } = await acceptedWallet(kit);
      const names = namesOfState(kit);
      for (const found of finalStatesIn(json, { names, finalStates })) refuseFinal(kit, found);
      if (state !== undefined && valueAt(json, state) === undefined)
        kit.warn(`The 202 of a wallet has no state at ${state}, where wallet.state of the target file says.`);
      if (state === undefined && !hasState(json, names))
        throw new NotOffered(
          "The 202 of a wallet shows no state, and need not. If it has one, name its place in wallet.state of the target file.",
        );
    },
  ),
  contractCheck(
    "wallet.create.each",
    "4.post-wallets",
    "A second wallet is answered as the first: with 202, and without a final outcome.",
    { needs: [walletCreate], unlessFailed: ["wallet.create.not-final"], writes: writesWallet },
    async (kit) => {
      if (!JSON.stringify(kit.target.wallet.body).includes("{run}"))
        throw new NotOffered(
          "wallet.body of the target file has no {run}, so a second request would be for the same wallet, and how that is answered is open.",
        );
      const reply = await createWallet(kit);
      if (isRefusal(reply) && !isServerFailure(reply.exchange))
        throw new NotOffered("A second wallet is refused, as a business rule may do.");
      expect(reply.status === 202, "status 202 for a second wallet too", describeReply(reply));
      const { finalStates } = kit.target.wallet;
      const known = finalStatesIn((await acceptedWallet(kit)).json, { names: [], finalStates });
      for (const found of finalStatesIn(reply.json, { names: namesOfState(kit), finalStates }))
        if (!known.some(({ path }) => path === found.path)) refuseFinal(kit, found);
    },
  ),
  contractCheck(
    "book.get",
    "4.get-orderbook",
    "The order book is read without any parameter, with status 200.",
    {},
    async (kit) => {
      const reply = await book(kit);
      expect(reply.status === 200, "status 200 without any parameter", describeReply(reply));
      for (let times = 2; times <= bookReads; times += 1) {
        const again = await readBook(kit);
        expect(again.status === 200, `status 200 also when it is read ${times} times`, describeReply(again));
      }
    },
  ),
  contractCheck(
    "book.snapshot",
    "1.book",
    "The response contains a snapshot.",
    { needs: ["book.get"] },
    async (kit) => {
      const reply = await book(kit);
      const unreadable = findUnreadableJson(reply);
      if (unreadable !== undefined) fail("a snapshot that can be read as JSON", unreadable, reply);
      expect(
        reply.text.trim() !== "" && !isNoSnapshot(reply),
        "a snapshot in the body",
        describeReply(reply),
      );
      if (mediaTypeOf(reply) === "text/html")
        kit.warn("The order book is an HTML page. Its form is open, but so is whether it is one to log in.");
    },
  ),
  contractCheck(
    unprefixed,
    "4.prefix",
    "Transactions are not created at a path without /v1.",
    { needs: ["tx.create.admitted"], writes: ["transaction"] },
    async (kit) => {
      const { reply } = await kit.create({ path: "/transactions" });
      expect(
        !isAccepted(kit.target, reply),
        "no 202 from POST /transactions, which lacks the prefix /v1",
        describeReply(reply),
      );
    },
  ),
  contractCheck(
    "prefix.transaction",
    "9.prefix",
    "A transaction is not shown at a path without /v1.",
    { needs: ["tx.get.found"], unlessFailed: [unprefixed], writes: ["transaction"] },
    async (kit) => {
      const { id } = await sharedTransaction(kit);
      const reply = await kit.send("GET", `/transactions/${percentEncode(id)}`);
      expect(
        !isSameAs(reply, await showTransaction(kit, id)),
        "no transaction from GET /transactions/{id}, which lacks the prefix /v1",
        describeReply(reply),
      );
    },
  ),
  contractCheck(
    "prefix.wallets",
    "4.prefix",
    "Wallets are not created at a path without /v1.",
    { needs: [walletCreate], unlessFailed: [unprefixed], writes: writesWallet },
    async (kit) => {
      const reply = await kit.send("POST", "/wallets", {
        headers: [
          ["Content-Type", "application/json"],
          ["Idempotency-Key", kit.newKey()],
        ],
        body: walletBody(kit),
      });
      expect(
        reply.status !== 202 || isRefusal(reply),
        "no 202 from POST /wallets, which lacks the prefix /v1",
        describeReply(reply),
      );
    },
  ),
  contractCheck(
    "prefix.orderbook",
    "4.prefix",
    "The order book is not shown at a path without /v1.",
    { needs: ["book.get"], unlessFailed: [unprefixed] },
    async (kit) => {
      const reply = await kit.send("GET", "/orderbook", { bodyBytesMax: bookBytesMax });
      expect(
        !isSameAs(reply, await book(kit)),
        "no snapshot from GET /orderbook, which lacks the prefix /v1",
        describeReply(reply),
      );
    },
  ),
];

/** The body of a request for a wallet. They come after those of transactions, whose mistakes they would repeat. */
export const walletBodyChecks = [
  contractCheck(
    walletForm,
    "4.rule-3",
    "A wallet is not created from a form.",
    // A program that reads forms, or does not look at bodies, does so everywhere.
    { needs: [walletCreate], unlessFailed: ["body.form"], writes: writesWallet },
    async (kit) => {
      const form = new URLSearchParams(
        Object.entries(JSON.parse(walletBody(kit)) as object).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
      );
      const contentType = "application/x-www-form-urlencoded";
      const body = form.toString() || "name=conformance";
      expectRefused(await createWallet(kit, { contentType, body }), "a form as the body of a create request");
    },
  ),
  contractCheck(
    "wallet.create.malformed",
    "4.rule-3",
    "A wallet is not created from malformed JSON.",
    { needs: [walletCreate], unlessFailed: [walletForm, "body.malformed"], writes: writesWallet },
    async (kit) => {
      const body = walletBody(kit).slice(0, -1);
      expectRefused(await createWallet(kit, { body }), "a body that is not JSON");
    },
  ),
];

/** A book has no bound, and no parameter that would bound it. */
export const bookBytesMax = 32 << 20;

const bookReads = 3;

const readBook = (kit: Kit) => kit.send("GET", "/v1/orderbook", { bodyBytesMax: bookBytesMax });

export const book = (kit: Kit) => kit.fixture("order book", readBook);

/** Null, an error of whatever form, or a body that is declared as JSON and is not. */
function isNoSnapshot(reply: Reply): boolean {
  const { json } = reply;
  if (json === undefined) return /[/+]json$/.test(mediaTypeOf(reply));
  return json === null || (isObject(json) && Object.keys(json).join() === "error");
}

/**
 * Whether a path without the prefix shows what the one with it shows: a success of the same kind. A page of a website at such a path is no
 * concern of the contract, unless it is the very same.
 */
function isSameAs(reply: Reply, prefixed: Reply): boolean {
  if (reply.status !== 200 || errorOf(reply) !== undefined || reply.text.trim() === "") return false;
  if (reply.json !== undefined || reply.text === prefixed.text) return true;
  const [type, usual] = [reply, prefixed].map(mediaTypeOf);
  return type === usual && type !== "text/html";
}
