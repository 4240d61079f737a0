import { expect, NotOffered, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { bookBytesMax } from "../endpoint-checks.js";

const profile = "ratelimit";
const requestsMax = 40;

/** The refusal of a client with a small quota, which reads until there is one. */
const refused = (kit: Kit) =>
  kit.fixture("refused by quota", async (own) => {
    const { limitedToken } = own.session;
    if (limitedToken === undefined)
      throw new NotOffered("The target file names no client with a small quota (limited).");
    const authorization = `Bearer ${limitedToken}`;
    const ofBook = { bodyBytesMax: bookBytesMax, keepsBeginning: true };
    const options = { authorization, showsRefusedByQuota: true, ...ofBook };
    for (let requests = 0; requests < requestsMax; requests += 1) {
      const reply = await own.send("GET", "/v1/orderbook", options);
      if (reply.status === 429) return reply;
    }
    throw new NotOffered(
      `${requestsMax} requests of the client with a small quota were not refused with 429.`,
    );
  });

/** What a client needs that backs off, as section 8 of the contract expects. */
export const ratelimitChecks = [
  profileCheck(
    "ratelimit.retry-after",
    profile,
    "RFC 6585, section 4",
    "A 429 says when to retry.",
    { needs: ["book.get"] },
    async (kit) => {
      const after = (await refused(kit)).header("retry-after") ?? "none";
      const isTime = /^\d+$/.test(after) || !Number.isNaN(Date.parse(after));
      expect(isTime, "Retry-After with seconds or a date in a 429", after);
    },
  ),
];
