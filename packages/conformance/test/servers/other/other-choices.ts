import { needsId, needsRefusal, stateless } from "./other-needs.js";

/**
 * What else a correct implementation may choose. Each is a way in which a server was failed once although the contract allows what it does,
 * or one that is as open. `file` changes the target file of the Other server; `missing` are checks that then need not be offered.
 */
export interface OtherChoice {
  readonly file?: readonly (readonly [from: string | RegExp, to: string])[];
  readonly missing?: readonly string[];
  /** Checks that pass with a warning. */
  readonly warned?: readonly string[];
  /** Checks that cannot be decided, because the target file does not state how long something takes. */
  readonly undecided?: readonly string[];
  /** The choice is not allowed: this check fails, with these words, and no other one. */
  readonly fails?: { readonly check: string; readonly words: string };
}

const signature = /signature:\n(?: {4}.*\n)+/;
const signedIn = (place: string, content: string) =>
  `signature:\n    scheme: hmac\n    algorithm: sha512\n    ${place}\n    content: "${content}"\n`;

export const otherChoices = {
  "several updates with the same state": {},
  "ids that end with an underscore": {},
  "ids with slashes in a header of their own": { file: [["header.location", "header.x-other-order"]] },
  "ids with slashes, percent-encoded in a header of their own": {
    file: [["header.location", "header.x-other-order"]],
  },
  "ids with spaces, bytes that are not UTF-8, comments in JSON, and a page of a gateway for what is no URI": {
    warned: ["tx.get.exact", "body.strict", "error.every.object"],
  },
  "amounts and bytes of other forms, announced as they are understood": {
    file: [["webhooks:", "webhooks:\n  amount: order.amount\n  reference: body.order.ref"]],
    warned: ["body.amount.decimal", "body.strict"],
  },
  "references with half of a surrogate pair, which notifications name": {},
  "repetitions that are announced again, in notifications that name only the reference": {
    warned: ["key.repeat.nothing-created"],
  },
  "a fee beside each transaction, with its reference": {},
  "a fee of another amount beside each transaction": {},
  "a fee beside each transaction, whose notifications name its payment": {
    file: [["timing: {", "timing: { visible_ms: 10,"]],
  },
  "a record of the other wallet beside each transaction": {},
  "a record of the other wallet beside each transaction, and one of many that is carried out twice": {
    fails: { check: "tx.create.once", words: "with the same reference and amount, in notification" },
  },
  "transactions that fail": {
    file: [
      ["[DONE]", "[DONE, REFUSED]"],
      ["refused_by_policy:", "fails: { purpose: doomed }\nrefused_by_policy:"],
    ],
  },
  "an amount and a reference in some notifications, which the target file names": {
    file: [["webhooks:", "webhooks:\n  amount: order.amount\n  reference: body.order.ref"]],
  },
  "connections that are closed when they are idle": { missing: ["access.each-request"] },
  "states in lower case in notifications": {
    file: [["final_states: [DONE]", "final_states: [done, DONE]"]],
  },
  "an event that is an object": {},
  "references of letters and digits, which the target file does not say": { warned: ["tx.create.admitted"] },
  "large numbers as ids": {
    file: [["webhooks:", "webhooks:\n  transaction_id: body.order\n  state: body.status"]],
  },
  "ids of digits, one after the other, which a double does not tell apart": {
    file: [
      ["webhooks:", "webhooks:\n  transaction_id: body.order\n  state: body.status\n  reference: body.ref"],
    ],
  },
  "ids of one or two digits, and small numbers in notifications": {},
  "ids of one or two digits, small numbers in notifications, and delivery_ids that begin again": {
    fails: { check: "webhook.delivery-id.every", words: "for two transactions" },
  },
  "notifications larger than the kit reads": {
    file: [["timing: {", "timing: { webhook_ms: 3000,"]],
    undecided: ["webhook.sent"],
  },
  "notifications without a state": { missing: stateless },
  "other event kinds about the same transaction": {},
  "notifications with a signature for each of two secrets, separated by a comma": {},
  "notifications as forms": {
    file: [
      [signature, signedIn("header: X-Other-Signature\n    prefix: v9=", "{header:X-Other-Stamp}|{body}")],
    ],
  },
  "the payload as a string and the signature in a field": {
    file: [
      [signature, signedIn("field: signature", "{field:event}{field:delivery_id}{field:payload}")],
      ["webhooks:", "webhooks:\n  transaction_id: body.payload.transaction\n  state: payload.status"],
    ],
  },
  "items of a notification inside of another field": {},
  "notifications that name the reference and not the id": {},
  "the reference percent-encoded in a header of notifications": {},
  "the reference in a header of notifications, as RFC 2047 encodes it": { warned: ["webhook.each"] },
  "notifications in plain text": { missing: stateless },
  "notifications that are compressed": {},
  "notifications that name nothing": {
    warned: ["webhook.sent"],
    missing: ["webhook.each", "webhook.each.later", ...stateless],
  },
  "notifications sent again after 2xx": {},
  "a sender that waits only half a second": {},
  "retries later than the kit waits": { undecided: ["webhook.retry"] },
  "transactions that are found some time after the 202": {},
  "refusals remembered under their key": {},
  "key and body together identify a request": { warned: ["key.reused.unchanged", "key.repeat.each"] },
  "references that are used once": { missing: ["key.distinct"] },
  "keys of at most 36 characters": {},
  "keys that must be UUIDs": { missing: ["key.case", "key.punctuation", "key.spelling"] },
  "keys of at most 16 characters": {
    file: [["token_env:", "key_length: 16\ntoken_env:"]],
  },
  "keys of at most 20 characters, which the target file does not say": { warned: ["tx.create.admitted"] },
  "a state under another name, which the target file does not say": { undecided: ["tx.get.state"] },
  "a state under another name": {
    file: [["final_states:", "shown: { state: data.phase }\nfinal_states:"]],
  },
  "a state that is a boolean": {
    file: [["final_states:", "shown: { state: data.final }\nfinal_states:"]],
    undecided: ["tx.get.state"],
  },
  "an envelope whose status is called as a final state": {},
  "an envelope whose status is called as a final state, and a state that is named": {
    file: [["final_states:", "shown: { state: data.phase }\nfinal_states:"]],
  },
  "an envelope with a status, and a state that the target file does not name": {
    undecided: ["tx.get.result"],
  },
  "a status of the notification besides": { missing: ["webhook.result", "webhook.visible"] },
  "a status of the attempt besides": {
    missing: ["webhook.result", "webhook.visible"],
    warned: ["webhook.result.every"],
  },
  "attempts that are repeated with the newest state": {
    fails: { check: "webhook.result.every", words: "the state DONE in notification" },
  },
  "notifications in batches": {
    file: [["webhooks:", "webhooks:\n  transaction_id: body.items.0.order\n  state: items.0.phase"]],
  },
  "notifications in batches, which the target file does not describe": {},
  "batches that are put together again when they are retried": { missing: ["webhook.retry.same-id"] },
  "states that are numbers": { file: [["[DONE]", "[30]"]] },
  "a state that is the whole body": {},
  "policy applied after the 202": {
    file: [["[DONE]", "[DONE, REFUSED]"]],
    missing: ["policy.status", "policy.code"],
  },
  "a quota answered with 503": {},
  "amounts in minor units": {},
  "an amount that is an object": {},
  "an amount net of a fee": {},
  "an asset that is an object": {},
  "a reference of the service's own beside the id": {},
  "repetitions answered with 303": {},
  "repetitions answered with 200": { warned: ["key.repeat.same-id"] },
  "repetitions answered with 208": { warned: ["key.repeat.same-id"] },
  "repetitions answered with 204": { warned: ["key.repeat.same-id"] },
  "a token that is also accepted in quotes": { warned: ["access.exact"] },
  "a token that is also accepted as an API key": { warned: ["access.scheme"] },
  "one request at a time, and replicas that are behind": {
    missing: ["tx.create.together"],
    warned: ["tx.get.every-found"],
  },
  "a price and a reference that are new at each GET": {},
  "amounts with an exponent": { file: [["final_states:", "shown: { amount: data.amount }\nfinal_states:"]] },
  "headers that are written without hyphens": {
    file: [[signature, signedIn("header: OtherSignature\n    prefix: v9=", "{header:OtherStamp}|{body}")]],
  },
  "a rejection by policy under another code": {
    fails: { check: "policy.code", words: "the code E451_POLICY" },
  },
  "repetitions accepted without an id": { warned: ["key.repeat.same-id"] },
  "GET behind the notification": { warned: ["webhook.visible"] },
  "GET behind the notification, which the target file allows": {
    file: [["timing: {", "timing: { visible_ms: 2000,"]],
  },
  "GET behind the notification, which the target file excludes": {
    file: [["timing: {", "timing: { visible_ms: 10,"]],
    fails: { check: "webhook.visible", words: "was sent before the change was visible" },
  },
  "notifications that announce another result": {
    file: [["[DONE]", "[DONE, REFUSED]"]],
    fails: { check: "webhook.result", words: "a notification with the state DONE that GET shows" },
  },
  "a signed field that is left out": {
    file: [[signature, signedIn("field: signature", "{field:event}{field:delivery_id}{field:payload}")]],
    fails: { check: "webhook.event", words: "a field or header event" },
  },
  "a signature of one field alone": {
    file: [[signature, signedIn("field: signature", "{field:event}{field:delivery_id}{field:payload}")]],
    fails: { check: "webhook.signature.valid", words: "a signature of {field:payload} alone" },
  },
  "repetitions that are refused and carried out, and notifications that name only the reference": {
    fails: { check: "key.repeat.nothing-created", words: "at two of two such transactions" },
  },
  "repetitions that are refused and carried out": {
    fails: {
      check: "key.repeat.nothing-created",
      words: "whose repetition with the same key was answered with 409",
    },
  },
  "repetitions that are refused and carried out, with a fee beside each transaction": {
    fails: { check: "key.repeat.nothing-created", words: "besides 1 such as each transaction has" },
  },
  "a transaction of many that is carried out twice, with a fee of another amount beside each": {
    fails: { check: "tx.create.once", words: "with the same reference and amount, in notification" },
  },
  "keys that are forgotten if the client hangs up": {
    fails: { check: "key.hang-up", words: "a second one: notification" },
  },
  "JSON with a byte order mark, except in errors": {},
  "errors with a byte order mark": {
    fails: { check: "error.every.encoding", words: "a byte order mark for " },
  },
  "an outcome in the 202 that the target file does not name": { warned: ["tx.create.not-final"] },
  "an outcome in the 202 that the target file names": {
    file: [["[DONE]", "[DONE, success]"]],
    fails: { check: "tx.create.not-final", words: "the final state success in the 202, at outcome" },
  },
  "a book in CSV": {},
  "a book in CSV, also without the prefix": {
    fails: { check: "prefix.orderbook", words: "which lacks the prefix /v1" },
  },
  "no id in the 202": {
    file: [["accepted_id: header.location\n", ""]],
    warned: ["webhook.sent"],
    missing: [...needsId, "webhook.each", "webhook.each.later"],
  },
  "no id in the 202, and notifications that name the reference": {
    file: [["accepted_id: header.location\n", ""]],
    missing: needsId,
  },
  "no id in the 202, and notifications that name it where the target file says": {
    file: [
      ["accepted_id: header.location\n", ""],
      ["webhooks:", "webhooks:\n  transaction_id: body.resource"],
    ],
    warned: ["webhook.sent"],
    missing: [...needsId, "webhook.each", "webhook.each.later"],
  },
  "no id in the 202, and one in notifications for which GET shows what was sent": {
    file: [
      ["accepted_id: header.location\n", ""],
      ["webhooks:", "webhooks:\n  transaction_id: body.resource"],
    ],
    warned: ["webhook.sent"],
    missing: [...needsId, "webhook.each", "webhook.each.later"],
  },
  "no id in the 202, one in notifications for which GET shows what was sent, and keys that are ignored": {
    file: [
      ["accepted_id: header.location\n", ""],
      ["webhooks:", "webhooks:\n  transaction_id: body.resource"],
    ],
    warned: ["webhook.sent"],
    missing: [...needsId, ...needsRefusal, "webhook.each", "webhook.each.later"],
    fails: { check: "tx.create.once", words: "with the same reference and amount, in notification" },
  },
  "an address of the transaction in the body of the 202": {
    file: [["header.location", "body.links.0.self"]],
  },
  "items of a notification under other names": {
    file: [["webhooks:", "webhooks:\n  event: body.kind\n  delivery_id: header.X-Other-Message"]],
  },
  "long request ids that differ at their end": {},
  "errors with a long message for a body that is not JSON": { warned: ["error.every.object"] },
  "errors answered with 300": {},
  "errors with the members of RFC 9457 beside the object": { warned: ["error.object.alone"] },
  "errors declared as text/json": {},
  "errors declared as text": { warned: ["error.object"] },
  "errors without a content type": { warned: ["error.object"] },
  "amounts with a sign": { file: [["final_states:", "shown: { amount: data.amount }\nfinal_states:"]] },
  "references of at most 16 letters and digits": {
    file: [["token_env:", "reference: { max_length: 16, characters: alphanumeric }\ntoken_env:"]],
  },
} as const satisfies Record<string, OtherChoice>;

export type OtherChoiceName = keyof typeof otherChoices;
export type Chose = (name: OtherChoiceName) => boolean;
