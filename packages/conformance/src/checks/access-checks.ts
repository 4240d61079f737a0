import { CheckFailed, contractCheck, expect, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { describeReply, type Reply } from "../http/reply.js";
import { obtainToken, revokeToken } from "../target/oauth.js";
import { onOneConnection } from "./keys/key-scenarios.js";
import { alterToken, likeToken, otherSpellings } from "./like-token.js";
import { expectAccepted, expectRefused, isAccepted } from "./scenarios.js";

const none = "access.none";
const garbage = "access.garbage";
export const unissued = "Bearer conformance.not-a.token";
const row = { needs: ["tx.create.admitted"], writes: ["transaction"] } as const;
/** A service that lets one request pass that it should refuse often lets others pass too, so they are reported one after the other. */
const order = [
  none,
  garbage,
  "access.altered",
  "access.empty",
  "access.scheme",
  "access.exact",
  "access.path",
  "access.each-request",
  "access.together",
  "access.repeat",
  "access.revoked",
];
/** Programs that look for tokens and those that serve a path need not agree on what these are. */
const otherPaths = [
  "/v1/transactions/",
  "/v1//transactions",
  "/V1/TRANSACTIONS",
  "/v1/%74ransactions",
  "/v1/transactions?a=1",
  "/v1/transactions;a=1",
  "/v1/./transactions",
  "/v1/wallets/../transactions",
];
const revokedTries = 3;
const crowd = 4;
const before = (id: string) => order.slice(0, order.indexOf(id));

/**
 * What leads elsewhere is not accepted: only the error object is missing. That is one failure, which the check of the error without a token
 * reports, unless that one is no redirect.
 */
export async function expectNoAccess(kit: Kit, reply: Reply, what: string): Promise<void> {
  if (!isRedirect(reply)) expectRefused(reply, what);
  else if (!isRedirect((await withoutToken(kit)).reply))
    throw new CheckFailed(
      `an error object for ${what}: a redirect is no error response`,
      describeReply(reply),
      "error.no-token.object",
      reply,
    );
}

export const unissuedToken = (kit: Kit) =>
  kit.fixture("token that nobody has issued", (own) => own.create({ authorization: unissued }));

const isRedirect = ({ status }: Reply) => status >= 300 && status < 400;

export const withoutToken = (kit: Kit) =>
  kit.fixture("without token", (own) => own.create({ authorization: null }));

/** The bearer token of the create request. Whether other endpoints require one is open. */
export const accessChecks = [
  contractCheck(none, "5.bearer", "A request without a token is not accepted.", row, async (kit) => {
    await expectNoAccess(kit, (await withoutToken(kit)).reply, "a request without a token");
  }),
  contractCheck(
    garbage,
    "5.bearer",
    "A token that nobody has issued is not accepted.",
    { ...row, unlessFailed: before(garbage) },
    async (kit) => {
      await expectNoAccess(kit, (await unissuedToken(kit)).reply, "a token that nobody has issued");
    },
  ),
  contractCheck(
    "access.altered",
    "5.bearer",
    "A token that was altered is not accepted.",
    { ...row, unlessFailed: before("access.altered") },
    async (kit) => {
      const altered = alterToken(kit.session.token);
      kit.session.secrets.set(altered, "$ALTERED_TOKEN");
      const { reply } = await kit.create({ authorization: `Bearer ${altered}` });
      await expectNoAccess(kit, reply, "a token with one character changed");
    },
  ),
  contractCheck(
    "access.empty",
    "5.bearer",
    "An empty bearer token is not accepted.",
    { ...row, unlessFailed: before("access.empty") },
    async (kit) => {
      await expectNoAccess(
        kit,
        (await kit.create({ authorization: "Bearer " })).reply,
        "an empty bearer token",
      );
    },
  ),
  contractCheck(
    "access.scheme",
    "5.bearer",
    "A valid token under the scheme Basic, which is that of passwords, is not accepted.",
    { ...row, unlessFailed: before("access.scheme") },
    async (kit) => {
      const { token } = kit.session;
      const { reply } = await kit.create({ authorization: `Basic ${token}` });
      await expectNoAccess(kit, reply, "a valid token under the scheme Basic");
      // The contract also names API keys and does not show how they are sent, so these can be another way to authenticate.
      const others: readonly [how: string, authorization: string][] = [
        ["under the scheme Token", `Token ${token}`],
        ["without Bearer", token],
      ];
      for (const [how, authorization] of others)
        if (isAccepted(kit.target, (await kit.create({ authorization })).reply))
          kit.warn(
            `A valid token is also accepted ${how}. The contract shows Bearer alone, and does not show how the API keys that it names are sent.`,
          );
    },
  ),
  contractCheck(
    "access.exact",
    "5.bearer",
    "After Bearer only the whole token is accepted, and nothing that is like it.",
    { ...row, unlessFailed: before("access.exact") },
    async (kit) => {
      for (const [what, authorization] of likeToken(kit))
        await expectNoAccess(kit, (await kit.create({ authorization })).reply, what);
      const accepted: string[] = [];
      for (const [what, authorization] of otherSpellings(kit))
        if (isAccepted(kit.target, (await kit.create({ authorization })).reply)) accepted.push(what);
      if (accepted.length > 0)
        kit.warn(
          `A valid token is also accepted ${accepted.join(", ")}. The contract shows Bearer, a space and the token, and does not say that other spellings of it are refused.`,
        );
    },
  ),
  contractCheck(
    "access.path",
    "5.bearer",
    "A request without a token is not accepted under another spelling of the path.",
    { ...row, unlessFailed: before("access.path") },
    async (kit) => {
      for (const path of otherPaths) {
        const { reply } = await kit.create({ path, authorization: null });
        // What is at such a path is open, and so is a redirect.
        expect(
          !isAccepted(kit.target, reply),
          `no transaction from POST ${path} without a token`,
          describeReply(reply),
        );
      }
    },
  ),
  contractCheck(
    "access.each-request",
    "5.bearer",
    "A request without a valid token is not accepted because an earlier one on its connection had one.",
    { ...row, needs: ["access.none"], unlessFailed: before("access.each-request") },
    async (kit) => {
      let reused = 0;
      await onOneConnection(kit, async (agent) => {
        for (const authorization of [null, unissued]) {
          expectAccepted(kit, (await kit.create({ agent })).reply);
          const { reply } = await kit.create({ agent, authorization });
          const what = authorization === null ? "without a token" : "with a token that nobody has issued";
          await expectNoAccess(kit, reply, `a request ${what} on the connection of one with a token`);
          reused += reply.exchange.isReused === true ? 1 : 0;
        }
      });
      if (reused === 0)
        throw new NotOffered("The target closes its connections, so no two requests are on one of them.");
    },
  ),
  contractCheck(
    "access.together",
    "5.bearer",
    "A request without a token is not accepted among others that arrive at once with one.",
    { ...row, needs: ["access.none"], unlessFailed: before("access.together") },
    async (kit) => {
      // Nothing is said of the others: a service may refuse requests because there are many.
      const send = (authorization?: null) => kit.create({ authorization, isConcurrent: true });
      const sent = [...Array.from({ length: crowd }, () => send()), send(null), send(null)];
      for (const { reply } of (await Promise.all(sent)).slice(crowd))
        await expectNoAccess(kit, reply, `a request without a token among ${crowd} that have one`);
    },
  ),
  contractCheck(
    "access.repeat",
    "5.bearer",
    "A request is not answered from memory if its repetition has no valid token.",
    { ...row, needs: ["access.none"], unlessFailed: before("access.repeat") },
    async (kit) => {
      const { key, body, reply: first } = await kit.create();
      expectAccepted(kit, first);
      for (const authorization of [null, unissued]) {
        const { reply } = await kit.create({ key, body, authorization });
        const what = authorization === null ? "without a token" : "with a token that nobody has issued";
        // A redirect is neither accepted nor refused.
        if (reply.status < 300)
          await expectNoAccess(kit, reply, `a repetition ${what} of a request that was accepted`);
      }
    },
  ),
  contractCheck(
    "access.revoked",
    "5.parts",
    "A token that was revoked is not accepted.",
    { needs: ["access.none"], unlessFailed: before("access.revoked"), writes: ["transaction", "token"] },
    async (kit) => {
      const token = kit.target.revokedToken ?? (await revokedToken(kit));
      // Of several processes one can have it in memory.
      for (let tries = 0; tries < revokedTries; tries += 1) {
        const { reply } = await kit.create({ authorization: `Bearer ${token}` });
        await expectNoAccess(kit, reply, "a token that was revoked");
      }
    },
  ),
];

/** A token of the client's own, revoked as RFC 7009 says. */
async function revokedToken(kit: Kit): Promise<string> {
  const { credentials, timing } = kit.target;
  if (credentials.clientId === undefined)
    throw new NotOffered(
      "The target file names no revoked token (revoked_token_env) and no client that could make one.",
    );
  const token = await obtainToken(kit.target.baseUrl, credentials, timing.requestMs);
  kit.session.secrets.set(token, "$REVOKED_TOKEN");
  const before = await kit.create({ authorization: `Bearer ${token}` });
  expectAccepted(kit, before.reply, "a request before the token is revoked");
  if (!(await revokeToken(kit.target.baseUrl, credentials, token, timing.requestMs)))
    throw new NotOffered("The target does not revoke tokens as RFC 7009 says.");
  await kit.sleep(timing.revocationMs);
  return token;
}
