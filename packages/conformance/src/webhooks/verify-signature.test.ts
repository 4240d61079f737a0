import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import type { Delivery } from "./receiver.js";
import { type Hmac, runCommand, signaturesIn, standardScheme, verifySignature } from "./verify-signature.js";

const delivery = { headers: [["x-signature", "v1"]] } as unknown as Delivery;
const limitMs = 500;

/** Runs a shell script that verifies, with a limit of half a second. */
const runScript = (script: string) =>
  runCommand(["sh", "-c", script], "secret", delivery, Buffer.from("body"), limitMs);

it("a command that ends is judged by its status, and reads the notification and the secret", async () => {
  const script = 'grep -q x-signature && [ "$WEBHOOK_SECRET" = secret ] && exit 3';
  expect(await runScript(script)).toEqual({ status: 3, stderr: "" });
});

it.each([
  ["sleeps", "sleep 20"],
  ["ignores that it should end", "trap '' TERM INT; while :; do sleep 1; done"],
  ["waits for a process that it has started", "sleep 20 & wait"],
])("a command that %s is ended at the limit, and says nothing about the target", async (_what, script) => {
  const started = performance.now();
  await expect(runScript(script)).rejects.toThrow("sh, did not end within 0.5 s");
  expect(performance.now() - started).toBeLessThan(5000);
});

it("a command that leaves a process behind is judged by its own status", async () => {
  expect((await runScript("sleep 3 & exit 0")).status).toBe(0);
});

it("several signatures are separated by commas, semicolons or spaces, or in headers of the same name", () => {
  const find = (prefix: string, ...values: string[]) => {
    const sent = { headers: values.map((value) => ["X-Signature", value]) } as unknown as Delivery;
    return signaturesIn({ ...standardScheme, at: "header.x-signature", prefix } satisfies Hmac, sent);
  };
  for (const separator of [",", ", ", "; ", " "])
    expect(find("v1=", `v1=aa${separator}v1=bb`)).toEqual(expect.arrayContaining(["v1=aa", "v1=bb"]));
  expect(find("v1=", "v1=aa", "v1=bb")).toEqual(expect.arrayContaining(["v1=aa", "v1=bb"]));
  expect(find("v1,", "v1,aa v1,bb")).toEqual(expect.arrayContaining(["v1,aa", "v1,bb"]));
  expect(find("", "aa,bb")).toEqual(expect.arrayContaining(["aa", "bb"]));
  expect(find("v1=", "t=5,v0=aa")).toEqual([]);
});

it.each(["utf8", "latin1"] as const)(
  "a signed header beyond ASCII that is sent as %s verifies, and another one does not",
  async (encoding) => {
    const body = Buffer.from("{}");
    const scheme: Hmac = {
      ...standardScheme,
      at: "header.x-signature",
      prefix: "",
      content: "{header:x-name}:{body}",
      secretEncoding: "text",
    };
    const verify = (signed: string) => {
      const signature = createHmac("sha256", "secret").update(signed).digest("base64");
      // Node reads each byte of a header as one character.
      const name = Buffer.from("é", encoding).toString("latin1");
      const headers = [
        ["x-name", name],
        ["x-signature", signature],
      ];
      const sent = { headers, body, decoded: body } as unknown as Delivery;
      return verifySignature({ scheme, secret: "secret", url: "http://127.0.0.1/" }, sent);
    };
    expect(await verify("é:{}")).toBe(true);
    expect(await verify("è:{}")).toBe(false);
  },
);
