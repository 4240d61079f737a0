import { expect, it } from "vitest";
import { leaveOutLocked } from "./leave-out-locked.js";

class LockError extends Error {}
class UnavailableError extends Error {}

const tenants = Array.from({ length: 500 }, (_, index) => `${index}`);

async function run(isLocked: (tenantId: string) => boolean, errorOf: () => Error = () => new LockError()) {
  const done: string[] = [];
  const locked: string[] = [];
  const unknown: string[] = [];
  let failures = 0;
  await leaveOutLocked(
    tenants,
    async (some) => {
      if (some.some(isLocked)) {
        failures += 1;
        throw errorOf();
      }
      done.push(...some);
    },
    {
      isLockTimeout: (error) => error instanceof LockError,
      isUnavailable: (error) => error instanceof UnavailableError || error instanceof LockError,
      onLocked: (tenantId) => void locked.push(tenantId),
      onUnknown: (some) => void unknown.push(...some),
    },
  );
  return { done, locked, unknown, failures };
}

it("finds a locked tenant among 500 with ten waits and processes all others", async () => {
  const { done, locked, unknown, failures } = await run((id) => id === "321");
  expect([done.length, locked, unknown, failures]).toEqual([499, ["321"], [], 10]);
});

it("waits a bounded number of times if all are locked, and names those that it has not reached", async () => {
  const { done, locked, unknown, failures } = await run(() => true);
  expect([done.length, failures]).toEqual([0, 32]);
  expect([...locked, ...unknown].sort()).toEqual([...tenants].sort());
});

it("leaves out what fails for another reason, and stops if the database is unavailable", async () => {
  const { done, locked, unknown } = await run(
    (id) => id === "7",
    () => new Error("a row is at fault"),
  );
  expect([done.length, locked, unknown]).toEqual([499, [], []]);
  await expect(
    run(
      () => true,
      () => new UnavailableError(),
    ),
  ).rejects.toThrow(UnavailableError);
});
