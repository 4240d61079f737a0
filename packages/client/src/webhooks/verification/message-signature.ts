import { fromBase64 } from "../../encoding/base64.js";

/** The signatures of a message as RFC 9421 carries them, in the profile of Bursar's webhooks: only whole headers are covered. */
export interface MessageSignature {
  covered: string[];
  /** What the signature was made over. */
  base: string;
  signature: Uint8Array<ArrayBuffer>;
}

const required = ["content-digest", "webhook-id", "webhook-timestamp"];
const headerLengthMax = 8192;
const name = "[a-z*][a-z0-9_.*-]*";
const member = new RegExp(
  `(${name})=(\\(("[a-z0-9-]+"(?: "[a-z0-9-]+")*)\\)((?:;${name}=(?:-?[0-9]{1,15}|"[^"\\\\]*"))*))(?:, *|$)`,
  "y",
);

/** The signatures that cover what they must; one that is made otherwise is left out. */
export function readSignatures(header: (name: string) => string | undefined): MessageSignature[] {
  const inputs = header("signature-input") ?? "";
  const signatures = new Map(
    [
      ...(header("signature") ?? "")
        .slice(0, headerLengthMax)
        .matchAll(/([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/=]*):/g),
    ].map(([, label = "", value = ""]) => [label, fromBase64(value)] as const),
  );
  return membersOf(inputs).flatMap(({ label, params, covered, hasForeignAlgorithm }) => {
    const signature = signatures.get(label);
    const values = covered.map((part) => header(part));
    const isUsable = !hasForeignAlgorithm && required.every((part) => covered.includes(part));
    if (signature === undefined || !isUsable || values.includes(undefined)) return [];
    const lines = covered.map((part, at) => `"${part}": ${values[at]?.trim()}`);
    return [{ covered, signature, base: [...lines, `"@signature-params": ${params}`].join("\n") }];
  });
}

function membersOf(inputs: string) {
  const members: { label: string; params: string; covered: string[]; hasForeignAlgorithm: boolean }[] = [];
  if (inputs.length > headerLengthMax) return members;
  member.lastIndex = 0;
  for (let match = member.exec(inputs); match !== null; match = member.exec(inputs)) {
    const [, label = "", params = "", list = "", parameters = ""] = match;
    const alg = /;alg="([^"]*)"/.exec(parameters)?.[1];
    const covered = list.split(" ").map((part) => part.slice(1, -1));
    members.push({ label, params, covered, hasForeignAlgorithm: alg !== undefined && alg !== "hmac-sha256" });
    if (member.lastIndex >= inputs.length) break;
  }
  return members;
}

/** The SHA-256 of a `Content-Digest` header (RFC 9530), in base64. */
export function readDigest(header: string): string | undefined {
  return /(?:^|, *)sha-256=:([A-Za-z0-9+/=]+):(?:$|,)/.exec(header)?.[1];
}
