import type { ProfileName } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";

/** Where a value is: `body.data.id`, or `header.location`, of which the last segment counts. */
export type Place = `body.${string}` | `header.${string}`;

/** One request that the target file describes. Names in braces, such as `{id}`, are replaced in its path and body. */
export interface DescribedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** How notifications are signed. `{body}`, `{header:NAME}` and `{field:PATH}` in `content` are replaced by what was received. */
export type SignatureScheme =
  | {
      readonly scheme: "hmac";
      readonly algorithm: string;
      /** The header or the field of the body that has the signature. */
      readonly at: Place;
      readonly prefix: string;
      readonly encoding: "hex" | "base64";
      readonly content: string;
      readonly secretEncoding: "text" | "base64";
      readonly secretPrefix: string;
    }
  | { readonly scheme: "standard-webhooks" }
  /** As `messageSignatures` says. */
  | { readonly scheme: "rfc9421" }
  | { readonly scheme: "command"; readonly command: readonly string[] };

/** How notifications are signed by RFC 9421. */
export interface MessageSignatureTarget {
  readonly algorithm: "hmac-sha256" | "ed25519";
  /** Of `hmac-sha256`: how the secret becomes the key. */
  readonly secretEncoding: "text" | "base64";
  readonly secretPrefix: string;
  /** Of `ed25519`: the public key, as base64url of its 32 bytes. */
  readonly publicKey?: string | undefined;
  /** Where the responses that show a secret have the id of its key. */
  readonly keyId?: Place | undefined;
  /** The components that every signature must cover. */
  readonly covers: readonly string[];
  readonly tag?: string | undefined;
}

/** How a client signs its requests by RFC 9421, with an Ed25519 key that the kit registers. */
export interface SignedRequestTarget {
  /** `{public_key}` is the base64url of its 32 bytes, `{client_id}` the client of the run. */
  readonly register: DescribedRequest;
  readonly id: Place;
  readonly remove?: DescribedRequest | undefined;
  readonly covers: readonly string[];
  readonly tag?: string | undefined;
}

/** A WebSocket that sends events with a sequence. A message is recognised by the members that it must have. */
export interface StreamTarget {
  readonly path: string;
  readonly protocol?: string | undefined;
  readonly subscribe: Readonly<Record<string, unknown>>;
  /** The member of `subscribe` that resumes after a sequence. */
  readonly since: string;
  readonly subscribed: Readonly<Record<string, unknown>>;
  readonly event: Readonly<Record<string, unknown>>;
  /** Where an event has its sequence. */
  readonly sequence: string;
  /** Where the confirmation says whether everything after `since` follows. */
  readonly recovered: string;
}

export interface WebhookTarget {
  readonly register?: DescribedRequest | undefined;
  /** Where the registration's response has the id and the secret of the endpoint. */
  readonly id: Place;
  readonly secretAt?: Place | undefined;
  /** The secret of an endpoint that was registered by hand. */
  readonly secret?: string | undefined;
  readonly activate?: DescribedRequest | undefined;
  readonly remove?: DescribedRequest | undefined;
  /** A notification of this kind is a challenge: the receiver answers with the value at this path of its body. */
  readonly challenge?: { readonly event: string; readonly answer: string } | undefined;
  readonly signature?: SignatureScheme | undefined;
  readonly messageSignatures?: MessageSignatureTarget | undefined;
  /** Replaces the secret; the response has the new one where the registration has the first. */
  readonly rotate?: DescribedRequest | undefined;
  /** The documented times from an attempt that failed to the next. */
  readonly retryScheduleMs?: readonly number[] | undefined;
  /** Where a notification has its items, if they are not found by themselves. */
  readonly items: {
    readonly event?: Place | undefined;
    readonly delivery_id?: Place | undefined;
    readonly signature?: Place | undefined;
  };
  /** Where a notification has the id or the reference of its transaction, if it is not found by itself. */
  readonly transactionId?: Place | undefined;
  /** Where the state of the transaction is in the body of a notification, if it is not found by itself. */
  readonly state?: string | undefined;
  /** Where its amount, its asset and its reference are, as they were sent; looked at only if they are named. */
  readonly amount?: string | undefined;
  readonly asset?: string | undefined;
  readonly reference?: string | undefined;
}

/** How long the kit waits. All are upper bounds, except `quietMs`, `keyMs`, `revocationMs` and `slowMs`, which are waited in full. */
export interface Timing {
  readonly requestMs: number;
  readonly pollMs: number;
  readonly resultMs: number;
  readonly webhookMs: number;
  readonly retryMs: number;
  /** From a notification until GET shows the state that it announces. */
  readonly visibleMs: number;
  /** How long nothing more must arrive. */
  readonly quietMs: number;
  /** How long a key must at least be remembered. */
  readonly keyMs: number;
  readonly revocationMs: number;
  /** How long checks wait that run only with `--slow`. */
  readonly slowMs: number;
}

export interface Credentials {
  readonly token?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** Everything the kit knows about an implementation. */
export interface Target {
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly secondTenant?: Credentials | undefined;
  /** A client with a small quota. */
  readonly limited?: Credentials | undefined;
  /** A token that was revoked or has expired. With client credentials and OAuth the kit makes one itself. */
  readonly revokedToken?: string | undefined;
  readonly transaction: {
    readonly asset: string;
    readonly amount: string;
    readonly fields: Readonly<Record<string, unknown>>;
  };
  /** An amount with at least 17 significant digits, which a double cannot carry. */
  readonly exact?: { readonly asset: string; readonly amount: string } | undefined;
  /** Members that replace those of a transaction, so that policy refuses it. */
  readonly refusedByPolicy?: Readonly<Record<string, unknown>> | undefined;
  /** Finds such members if the target file names none. */
  readonly findRefusedByPolicy?: ((kit: Kit) => Promise<Record<string, unknown> | undefined>) | undefined;
  /** Members that replace those of a transaction, so that it is accepted and then fails. */
  readonly fails?: Readonly<Record<string, unknown>> | undefined;
  /** Finds such members if the target file names none. */
  readonly findFailing?: ((kit: Kit) => Promise<Record<string, unknown> | undefined>) | undefined;
  /** The form of the client's references, if the target restricts it. */
  readonly reference: {
    readonly maxLength?: number | undefined;
    readonly characters?: "ascii" | "alphanumeric" | "digits" | undefined;
  };
  readonly wallet: {
    readonly body: Readonly<Record<string, unknown>>;
    readonly state?: string | undefined;
    readonly finalStates: readonly string[];
  };
  readonly acceptedId?: Place | undefined;
  /** Paths in the body of GET /v1/transactions/{id}; what is absent is looked for under its usual names. */
  readonly shown: {
    readonly id?: string | undefined;
    readonly state?: string | undefined;
    /** As a string, and as it was requested. */
    readonly amount?: string | undefined;
    readonly asset?: string | undefined;
    readonly reference?: string | undefined;
  };
  readonly finalStates: readonly string[];
  readonly webhooks?: WebhookTarget | undefined;
  readonly signedRequests?: SignedRequestTarget | undefined;
  readonly stream?: StreamTarget | undefined;
  /** Paths of the documents; those that are absent are looked for at well-known ones. */
  readonly documents: { readonly openapi?: string | undefined; readonly asyncapi?: string | undefined };
  readonly timing: Timing;
  /** The waits that the target file or the preset states. After another one, an answer that is missing is not yet a failure. */
  readonly statedTiming: ReadonlySet<keyof Timing>;
  /** The longest Idempotency-Key that the target accepts, if it is shorter than a UUID. */
  readonly keyLength?: number | undefined;
  /** The error code of a refusal by a quota, if it is neither usual nor answered with 429. */
  readonly quotaCode?: string | undefined;
  readonly profiles: readonly ProfileName[];
}

export const defaultTiming: Timing = {
  requestMs: 10_000,
  pollMs: 100,
  resultMs: 20_000,
  webhookMs: 20_000,
  retryMs: 30_000,
  visibleMs: 0,
  quietMs: 1500,
  keyMs: 2500,
  revocationMs: 0,
  slowMs: 61_000,
};
