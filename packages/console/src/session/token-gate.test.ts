import { BursarError } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { createTokenGate } from "./token-gate";

const refusal = new BursarError({
  ...{ code: "UNAUTHENTICATED", message: "There is no session.", status: 401 },
  ...{ outcome: "not_sent", attempts: 1 },
});

function gateOf() {
  let nowMs = 0;
  let requests = 0;
  const gate = createTokenGate(() => nowMs);
  const ask = (answer: "token" | Error) =>
    gate
      .ask(async () => {
        requests += 1;
        if (answer instanceof Error) throw answer;
        return answer;
      })
      .catch((error: unknown) => error);
  return { gate, ask, requests: () => requests, wait: (ms: number) => (nowMs += ms) };
}

describe("a tab whose session has ended", () => {
  it("asks for a token more and more seldom, and after some minutes not any more", async () => {
    const { ask, requests, wait } = gateOf();
    const askedAtS: number[] = [];
    for (let second = 0; second < 3600; second += 1) {
      const before = requests();
      expect(await ask(refusal)).toBe(refusal);
      if (requests() > before) askedAtS.push(second);
      wait(1000);
    }
    expect(askedAtS).toEqual([0, 5, 15, 35, 75, 155, 315]);
  });

  it("asks at once after a login, also if an earlier request is answered later", async () => {
    const { gate, ask } = gateOf();
    await ask(refusal);
    gate.open();
    expect(await ask("token")).toBe("token");
    let refuse = (_: Error) => {};
    const late = gate.ask(() => new Promise((_, reject) => (refuse = reject))).catch(() => "late");
    gate.open();
    refuse(refusal);
    expect(await late).toBe("late");
    expect(await ask("token")).toBe("token");
  });

  it("is not one that the service does not answer", async () => {
    const { ask, requests } = gateOf();
    await ask(new Error("no connection"));
    expect(await ask("token")).toBe("token");
    expect(requests()).toBe(2);
  });
});
