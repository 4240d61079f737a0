import { expect, it } from "vitest";
import { hasUnknown } from "./list-signed.js";

const wallet = { tenantId: "tenant", walletId: "wallet" };
const signed = Array.from({ length: 1000 }, (_, nonce) => ({ nonce, transactionId: `payment ${nonce}` }));

async function look(unknownFrom: number, isNoted = false) {
  const pages: number[] = [];
  const isUnknown = await hasUnknown(
    {
      listUnknownNonces: async (some) => {
        pages.push(some.length);
        return some.filter(({ nonce }) => nonce >= unknownFrom).map((one) => ({ ...one, isNoted }));
      },
    },
    wallet,
    signed,
  );
  return { isUnknown, pages };
}

it("finds a nonce that the database does not know behind hundreds that it knows, and looks no further", async () => {
  expect(await look(300)).toEqual({ isUnknown: true, pages: [256, 256] });
});

it("looks at all of them if the database knows all", async () => {
  expect(await look(1000)).toEqual({ isUnknown: false, pages: [256, 256, 256, 232] });
});

it("takes none for unknown that the database has noted from a refusal", async () => {
  expect(await look(300, true)).toMatchObject({ isUnknown: false });
});
