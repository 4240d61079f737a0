import { beforeEach, describe, expect, it } from "vitest";
import type { AuditDraft } from "./audit-entry.js";
import { limitRefusals, recordedEveryMs } from "./limit-refusals.js";

describe("refusals of unauthenticated callers", () => {
  let nowMs: number;
  let recorded: AuditDraft[];
  let record: (change?: Partial<AuditDraft>) => void;
  beforeEach(() => {
    nowMs = 1_000_000;
    recorded = [];
    const limited = limitRefusals({ record: (draft) => void recorded.push(draft) }, () => nowMs);
    record = (change) =>
      limited.record({
        ...{ tenantId: "t", occurredAt: new Date(nowMs), actor: "anonymous", clientId: null, tokenId: null },
        ...{ action: "session.open", object: "cli_1", outcome: "refused", code: "PASSKEY_INVALID" },
        ...{ repeated: 1, requestId: null, address: "192.0.2.1", ...change },
      });
  });

  it("are recorded at once, and then once a minute with their count, however many there are", () => {
    for (let second = 0; second < 120; second++) {
      for (let attempt = 0; attempt < 100; attempt++) record();
      nowMs += 1000;
    }
    record();
    expect(recorded.map(({ repeated }) => repeated)).toEqual([1, 6000, 6000]);
  });

  it("do not hide those of another person, tenant, address or kind", () => {
    record();
    record({ object: "cli_2" });
    record({ tenantId: "u" });
    record({ address: "192.0.2.2" });
    record({ action: "invitation.use", code: "INVITATION_INVALID" });
    expect(recorded).toHaveLength(5);
  });

  it("count as one address in an IPv6 network that one customer has", () => {
    record({ address: "2001:db8::1" });
    record({ address: "2001:db8::2" });
    expect(recorded).toHaveLength(1);
  });

  it("are recorded if the clock was set back", () => {
    record();
    nowMs -= 10 * recordedEveryMs;
    record();
    expect(recorded).toHaveLength(2);
  });
});
