import { contractCheck, expect, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { describeReply } from "../http/reply.js";
import { obtainToken, revokeToken } from "../target/oauth.js";
import { expectRefused } from "./scenarios.js";

const garbage = "access.garbage";
const row = { needs: ["tx.create.accepted"], writes: ["transaction"] } as const;

export const withoutToken = (kit: Kit) =>
  kit.fixture("without token", (own) => own.create({ authorization: null }));

/** The bearer token of the create request. Whether other endpoints require one is open. */
export const accessChecks = [
  contractCheck("access.none", "5.bearer", "A request without a token is not accepted.", row, async (kit) => {
    expectRefused((await withoutToken(kit)).reply, "a request without a token");
  }),
  contractCheck(garbage, "5.bearer", "A token that nobody has issued is not accepted.", row, async (kit) => {
    const { reply } = await kit.create({ authorization: "Bearer conformance.not-a.token" });
    expectRefused(reply, "a token that nobody has issued");
  }),
  contractCheck(
    "access.altered",
    "5.bearer",
    "A token that was altered is not accepted.",
    { ...row, unlessFailed: [garbage] },
    async (kit) => {
      const altered = alterToken(kit.session.token);
      kit.session.secrets.set(altered, "$ALTERED_TOKEN");
      const { reply } = await kit.create({ authorization: `Bearer ${altered}` });
      expectRefused(reply, "a token with one character changed");
    },
  ),
  contractCheck("access.empty", "5.bearer", "An empty bearer token is not accepted.", row, async (kit) => {
    expectRefused((await kit.create({ authorization: "Bearer " })).reply, "an empty bearer token");
  }),
  contractCheck(
    "access.scheme",
    "5.bearer",
    "A valid token under another scheme is not accepted.",
    row,
    async (kit) => {
      const { reply } = await kit.create({ authorization: `Basic ${kit.session.token}` });
      expectRefused(reply, "a valid token under the scheme Basic");
    },
  ),
  contractCheck(
    "access.revoked",
    "5.parts",
    "A token that was revoked is not accepted.",
    { needs: ["access.none"], unlessFailed: [garbage, "access.altered"], writes: ["transaction", "token"] },
    async (kit) => {
      const token = kit.target.revokedToken ?? (await revokedToken(kit));
      const { reply } = await kit.create({ authorization: `Bearer ${token}` });
      expectRefused(reply, "a token that was revoked");
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
  expect(before.reply.status === 202, "status 202 before the token is revoked", describeReply(before.reply));
  if (!(await revokeToken(kit.target.baseUrl, credentials, token, timing.requestMs)))
    throw new NotOffered("The target does not revoke tokens as RFC 7009 says.");
  await kit.sleep(timing.revocationMs);
  return token;
}

/** Changes a character well inside the token: the last one of a base64 string can have bits that do not count. */
function alterToken(token: string): string {
  const at = Math.max(0, token.length - 8);
  const other = token[at] === "A" ? "B" : "A";
  return token.slice(0, at) + other + token.slice(at + 1);
}
