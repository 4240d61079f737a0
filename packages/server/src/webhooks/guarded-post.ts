import type { Dispatcher } from "undici";
import type { PostOutcome, UrlJudge, WebhookPost } from "../app/webhooks/webhook-post.js";
import { createAnswerReader } from "./answer-reader.js";
import { createConnectionPools } from "./connection-pools.js";
import { describeFailure } from "./describe-failure.js";
import { AddressRefusedError, createGuardedLookup } from "./guarded-lookup.js";
import { createUrlJudge, type UrlRules } from "./judge-url.js";
import { createHostResolver, type ResolveHost } from "./resolve-host.js";
import { createTargets } from "./targets.js";

export interface GuardedPostOptions extends UrlRules {
  /** Left out, the DNS is asked. */
  resolveHost?: ResolveHost;
  /** For tests; see the guarded lookup and the pools. */
  dialAs?: (address: string) => string;
  ca?: string;
}

export interface GuardedPost {
  post: WebhookPost;
  /** To be asked when an endpoint is registered or changed. */
  judgeUrl: UrlJudge;
  close: () => Promise<void>;
}

const connectTimeoutMs = 10_000;
const retryAfterLengthMax = 64;

/**
 * Posts to addresses that strangers choose. The URL is judged before each request and every address behind its name at each
 * connection; redirects are answers like others; the answer is bounded in time and size and is never unpacked.
 */
export function createGuardedPost({
  resolveHost = createHostResolver(),
  dialAs = (address) => address,
  ca,
  ...rules
}: GuardedPostOptions): GuardedPost {
  const judgeUrl = createUrlJudge(rules);
  const targetOf = createTargets(judgeUrl);
  const lookup = createGuardedLookup({ ...rules, resolveHost, dialAs });
  const pools = createConnectionPools({ lookup, ca, connectTimeoutMs });

  const post: WebhookPost = ({ owner, url, headers, body, timeoutMs }) => {
    const startedMs = performance.now();
    const target = targetOf(url);
    if (!target.ok) return Promise.resolve({ kind: "refused", reason: target.reason, latencyMs: 0 });
    const request: Dispatcher.DispatchOptions = {
      method: "POST",
      path: target.path,
      headers: listHeaders(headers),
      body,
    };
    return dispatch(pools.poolFor(owner, target.origin), request, timeoutMs, () =>
      Math.round(performance.now() - startedMs),
    );
  };

  return { post, judgeUrl, close: pools.close };
}

/** As the flat list that undici accepts without checks, with a header that asks for an uncompressed response. */
function listHeaders(headers: Readonly<Record<string, string>>): string[] {
  const list = ["accept-encoding", "identity"];
  for (const name in headers) list.push(name, headers[name] as string);
  return list;
}

/** One request on a pool, from its place in the queue to the end of its answer. */
function dispatch(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
  latencyMs: () => number,
): Promise<PostOutcome> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isDone = false;
    const finish = (outcome: PostOutcome) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(deadline);
      resolve(outcome);
    };
    // Undici says when it is about to write to a socket; until then nothing has left.
    const fail = (reason: string) =>
      finish({ kind: "failed", reason, sent: controller !== undefined, latencyMs: latencyMs() });
    const giveUp = () => controller?.abort(new Error("no more of the response is needed"));
    const deadline = setTimeout(() => {
      fail(`no whole answer within ${timeoutMs} ms`);
      giveUp();
    }, timeoutMs);

    const answer = createAnswerReader();
    let status = 0;
    let retryAfter: string | undefined;
    const finishAnswered = () =>
      finish({ kind: "answered", status, retryAfter, excerpt: answer.excerpt(), latencyMs: latencyMs() });
    pool.dispatch(request, {
      onRequestStart: (started) => {
        // The deadline may have passed while it waited for a connection: then it must not be sent.
        if (isDone) started.abort(new Error("the deadline has passed"));
        else controller = started;
      },
      onResponseStart: (_controller, statusCode, headers) => {
        status = statusCode;
        retryAfter = [headers["retry-after"]].flat()[0]?.slice(0, retryAfterLengthMax);
      },
      onResponseData: (_controller, chunk) => {
        if (isDone || answer.take(chunk)) return;
        finishAnswered();
        giveUp();
      },
      onResponseEnd: finishAnswered,
      onResponseError: (_controller, error) => {
        if (error instanceof AddressRefusedError)
          finish({ kind: "refused", reason: error.message, latencyMs: latencyMs() });
        else fail(describeFailure(error));
      },
    });
  });
}
