import { valueAt } from "../http/reply.js";
import { readBaseUrl, tokenVariable } from "../target/read-target.js";
import { UsageFault } from "../target/read-values.js";

/** Those that a few answers describe; rfc9421 has members of its own. */
const signatureSchemes = ["standard-webhooks", "hmac", "command"];

export interface Question {
  readonly ask: string;
  readonly path: string;
  readonly usual: string;
  readonly isList?: boolean;
  /** Asked only if the answers so far make it meaningful. */
  readonly isAsked?: (values: Record<string, unknown>) => boolean;
  /** What the file has for an answer, if it is not the string itself. */
  readonly read?: (answer: string) => unknown;
  /** Throws a UsageFault for an answer that no target file may have. */
  readonly verify?: ((answer: string) => void) | undefined;
}

const hasWebhooks = (values: Record<string, unknown>) => values["webhooks"] !== undefined;
const isSignedBy = (scheme: string) => (values: Record<string, unknown>) =>
  valueAt(values, "webhooks.signature.scheme") === scheme;

const variableForm = /^[A-Za-z_]\w*$/;
const variableOrNoneForm = /^([A-Za-z_]\w*)?$/;
const notVariable = "is not the name of an environment variable.";
const memberForm = /^([A-Za-z_][\w-]*=.+)?$/;

/** `a=b` as a member and its value. */
const readMember = (answer: string): readonly [string, string] => {
  const [name = ""] = answer.split("=");
  return [name, answer.slice(name.length + 1)];
};

const mustMatch = (form: RegExp, sentence: string) => (answer: string) => {
  if (!form.test(answer)) throw new UsageFault(`${answer} ${sentence}`);
};

/** What `init` asks, in this order. */
export const questions: readonly Question[] = [
  { ask: "Address of the service", path: "base_url", usual: "http://127.0.0.1:8080", verify: readBaseUrl },
  {
    ask: "Environment variable that holds an access token",
    path: "token_env",
    usual: tokenVariable,
    verify: mustMatch(variableForm, notVariable),
  },
  { ask: "Asset that is safe to use", path: "transaction.asset", usual: "USD" },
  {
    ask: "Amount of each transaction",
    path: "transaction.amount",
    usual: "1.15",
    verify: mustMatch(/^\d+(\.\d+)?$/, 'is not a decimal number such as "1.50".'),
  },
  {
    ask: "Where a 202 has the id (body.… or header.…)",
    path: "accepted_id",
    usual: "body.id",
    verify: mustMatch(/^(body|header)\../, 'does not begin with "body." or "header.".'),
  },
  {
    ask: "Final states of a transaction, separated by commas",
    path: "final_states",
    usual: "completed,failed",
    isList: true,
  },
  {
    ask: "Path of the state in the body of GET /v1/transactions/{id}; empty if it is state or status",
    path: "shown.state",
    usual: "",
  },
  {
    ask: "A member and a value that policy refuses, such as amount=100000; empty for none",
    path: "refused_by_policy",
    usual: "",
    verify: mustMatch(memberForm, "is not a member and a value such as amount=100000."),
    read: (answer) => Object.fromEntries([readMember(answer)]),
  },
  {
    ask: "A member and a value of a transaction that is accepted and then fails, such as source=empty; empty for none",
    path: "fails",
    usual: "",
    verify: mustMatch(memberForm, "is not a member and a value such as source=empty."),
    read: (answer) => Object.fromEntries([readMember(answer)]),
  },
  {
    ask: "An asset and a safe amount of at least 17 digits, such as ETH=0.010000000000000001; empty for none",
    path: "exact",
    usual: "",
    verify: mustMatch(
      /^([^=]+=\d+(\.\d+)?)?$/,
      "is not an asset and an amount such as ETH=0.010000000000000001.",
    ),
    read: (answer) => {
      const [asset, amount] = readMember(answer);
      return { asset, amount };
    },
  },
  {
    ask: "Environment variable that holds a token of another customer of the service; empty for none",
    path: "second_tenant.token_env",
    usual: "",
    verify: mustMatch(variableOrNoneForm, notVariable),
  },
  {
    ask: "Environment variable that holds a revoked token; empty for none",
    path: "revoked_token_env",
    usual: "",
    verify: mustMatch(variableOrNoneForm, notVariable),
  },
  {
    ask: "How many milliseconds a transaction takes at most until its state is final; empty if it is not known",
    path: "timing.result_ms",
    usual: "",
    verify: mustMatch(/^([1-9]\d*)?$/, "is not a number of milliseconds such as 20000."),
    read: Number,
  },
  {
    ask: "Path at which webhook endpoints are registered; empty for none",
    path: "webhooks.register.path",
    usual: "",
    verify: mustMatch(/^(\/.*)?$/, 'is not a path: it does not begin with "/".'),
  },
  {
    ask: "Member of its body that has the address of the receiver",
    path: "webhooks.register.body",
    usual: "url",
    isAsked: hasWebhooks,
    read: (answer) => ({ [answer]: "{url}" }),
  },
  {
    ask: "Where its response has the secret (body.… or header.…); empty if it has none",
    path: "webhooks.secret",
    usual: "",
    isAsked: hasWebhooks,
    verify: mustMatch(/^((body|header)\..+)?$/, 'does not begin with "body." or "header.".'),
  },
  {
    ask: "Path at which an endpoint is removed with DELETE, such as /hooks/{id}; empty for none",
    path: "webhooks.remove",
    usual: "",
    isAsked: hasWebhooks,
    verify: mustMatch(/^(\/.*)?$/, 'is not a path: it does not begin with "/".'),
    read: (path) => ({ method: "DELETE", path }),
  },
  {
    ask: "Path of the state in the body of a notification, such as data.state; empty if it has none",
    path: "webhooks.state",
    usual: "",
    isAsked: hasWebhooks,
  },
  {
    ask: `How notifications are signed (${signatureSchemes.join(", ")}); empty if it is not known`,
    path: "webhooks.signature.scheme",
    usual: "",
    isAsked: hasWebhooks,
    verify: (answer) => {
      if (answer !== "" && !signatureSchemes.includes(answer))
        throw new UsageFault(`${answer} is none of ${signatureSchemes.join(", ")}.`);
    },
  },
  {
    ask: "Header that has the signature",
    path: "webhooks.signature.header",
    usual: "X-Signature",
    isAsked: isSignedBy("hmac"),
  },
  {
    ask: "Hash of the signature",
    path: "webhooks.signature.algorithm",
    usual: "sha256",
    isAsked: isSignedBy("hmac"),
  },
  {
    ask: "What is signed; {body} is the bytes of the body, {header:NAME} a header",
    path: "webhooks.signature.content",
    usual: "{body}",
    isAsked: isSignedBy("hmac"),
  },
  {
    ask: "Command that verifies a notification, its arguments separated by spaces; it ends with 0 for a signature that is right",
    path: "webhooks.signature.command",
    usual: "./verify",
    isAsked: isSignedBy("command"),
    read: (answer) => answer.split(/\s+/),
  },
];
