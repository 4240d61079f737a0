/** How a request to Bursar is signed: which parts are covered, and for how long a signature may be used. */
export const requestSignature = {
  label: "sig1",
  tag: "bursar-v1",
  lifetimeSecondsMax: 300,
  /** How far a client's clock may be ahead of the service's. */
  clockSkewSecondsMax: 30,
  nonceLengthMin: 16,
  nonceLengthMax: 128,
} as const;

/** Always covered; and those covered if the request has them. */
const always = ["@method", "@target-uri", "authorization"] as const;
const ifPresent = ["content-digest", "idempotency-key", "if-match"] as const;

interface RequestShape {
  hasBody: boolean;
  hasIdempotencyKey: boolean;
  /** The version that a change is meant for: without it, the change could be made to another. */
  hasIfMatch: boolean;
}

export function requiredComponents({ hasBody, hasIdempotencyKey, hasIfMatch }: RequestShape): string[] {
  return [
    ...always,
    ...(hasBody ? ["content-digest"] : []),
    ...(hasIdempotencyKey ? ["idempotency-key"] : []),
    ...(hasIfMatch ? ["if-match"] : []),
  ];
}

/** The value of `Accept-Signature`, which tells a refused client what would be accepted. */
export const acceptSignature =
  `${requestSignature.label}=(${[...always, ...ifPresent].map((name) => `"${name}"`).join(" ")})` +
  `;created;expires;nonce;keyid;tag="${requestSignature.tag}"`;
