import { hash } from "node:crypto";
import { type ChangeRequest, changeDigest } from "@bursar/client";
import { changeContent } from "@bursar/domain";
import { expect, it } from "vitest";
import { blocksOf, readPage } from "../../harness/document-blocks.js";

interface Content {
  tenant_id: string;
  change_request_id: string;
  kind: string;
  target: string;
  change: object;
  requested_by: string;
  expires_at: string;
}

const digestOf = ({ change_request_id: id, tenant_id, ...shown }: Content) =>
  changeDigest({ id, ...shown } as ChangeRequest, tenant_id);

it("is that of the text which the guide shows", async () => {
  const text = (blocksOf("docs/guides/authority.md", "text")[0] ?? "").trimEnd();
  const digest = await digestOf(JSON.parse(text) as Content);
  expect(digest).toBe(hash("sha256", text, "hex"));
  expect(readPage("docs/guides/authority.md")).toContain(`has the digest \`${digest}\``);
});

it("is that of the service, whatever the change has in it", async () => {
  const change = {
    expected_version: 3,
    document: {
      default: { action: "reject", reason: 'ä \u2028 "quoted" \u{1f600}' },
      rules: [{ b: [1e21, 1e-7, -0, 0.1, true, null, {}, []], a: { "\u{1f600}": 1, "\ufb33": 2 } }],
    },
  };
  const shown: Content = {
    tenant_id: "tnt_1",
    change_request_id: "chr_1",
    kind: "policy.replace",
    target: "policy/4",
    change,
    requested_by: "cli_1",
    expires_at: "2026-11-17T08:30:00.000Z",
  };
  const content = changeContent({
    ...{ tenantId: "tnt_1", changeRequestId: "chr_1", requestedBy: "cli_1", change },
    ...{ kind: shown.kind, target: shown.target, expiresAt: shown.expires_at },
  });
  expect(await digestOf(shown)).toBe(hash("sha256", content, "hex"));
});
